"""One method for each kind of request: from the decoded request to the fields of its answer."""
