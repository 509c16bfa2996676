"""What is wrong with the syntax of one file, language by language; every module takes bytes and gives `Problem`s."""
