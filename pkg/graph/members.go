package graph

import ()

// addMembers adds the names of the properties that a value can have.
func addMembers(c contents, names map[string]bool) {
	switch c := c.(type) {
	case *schemaContents:
		if c.unknown {
			return
		}
		if _, array := c.kinds(); array {
			if below, ok := contents(c.with(c.elements())).(*schemaContents); ok && below != nil {
				addMembers(below, names)
			}
			return
		}
		for _, p := range c.parts {
			p.addNames(func(name string) { names[name] = true })
		}
	case *shapeContents:
		for _, f := range c.shape.Fields {
			names[f.Name] = true
		}
	case *knownShape:
		for _, f := range c.shape.Fields {
			names[f.Name] = true
		}
	case replyContents:
		for _, name := range []string{"content", "isError", "structuredContent"} {
			names[name] = true
		}
	case pathContents:
		addMembers(c.contents, names)
	case itemContents:
		addMembers(c.list, names)
	case listContents:
		addMembers(c.of, names)
	case *anyContents:
		for _, one := range c.of {
			addMembers(one, names)
		}
	}
}
