"""The guest side of Codeyard: runs the programs of one session inside the jail."""
