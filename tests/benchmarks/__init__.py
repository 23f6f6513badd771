"""How fast and how small the product itself is: `make bench` prints one table. Not part of `make test`: a busy machine is no defect."""
