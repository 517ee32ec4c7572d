"""Jobs: one module per script of a rule. It decodes its spec, calls the library and writes."""
