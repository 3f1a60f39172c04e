"""An owner's files: received, examined, proposed, reviewed, and only then declared."""
