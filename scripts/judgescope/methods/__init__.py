"""The methods: each turns a dataset's scores into rows of one result table."""
