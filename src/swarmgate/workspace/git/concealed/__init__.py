"""What a command may have concealed from git: by ignore rules, by flags of the index, in repositories within."""
