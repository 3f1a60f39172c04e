"""The lesson 'sensitivity': how far one person moves a statement."""
