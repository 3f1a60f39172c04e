"""The documentation as pages: tutorials, concepts and reference, from files inside the package."""
