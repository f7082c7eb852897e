package edit_test

var formats = []struct{ name, path, in, want string }{
	{name: "indentation", in: `
		version:   "1.0"
		server:
		    name: x
		    version: 1.0.0
		tools:
		-   name: a
		    inputSchema:
		          type: object
		    nodes:
		    - id: in
		      type: entry
		`, want: `
		version: "1.0"
		server:
		  name: x
		  version: 1.0.0
		tools:
		  - name: a
		    inputSchema:
		      type: object
		    nodes:
		      - id: in
		        type: entry
		`},
	{name: "order of keys", in: `
		nodes:
		  - next: b
		    # the id
		    id: a
		    type: mcp
		    x-pos: [1, 2]   # stays behind type
		    args: {b: 1, a: 2}
		    catch: {next: z}
		    tool: t
		    server: s
		  - {next: c, type: transform, transform: {expr: a}, id: b}
		mcpServers:
		  z:
		    env: {B: 1, A: 2}
		    args: [-y]
		    command: npx
		  a: {headers: {b: c}, url: "http://x"}
		`, want: `
		nodes:
		  # the id
		  - id: a
		    type: mcp
		    x-pos: [1, 2]   # stays behind type
		    server: s
		    tool: t
		    args: {b: 1, a: 2}
		    next: b
		    catch: {next: z}
		  - {id: b, type: transform, transform: {expr: a}, next: c}
		mcpServers:
		  z:
		    command: npx
		    args: [-y]
		    env: {B: 1, A: 2}
		  a: {url: "http://x", headers: {b: c}}
		`},
	{name: "bodies", in: `
		tools:
		  - nodes:
		      - id: m
		        nodes:
		          - {type: transform, id: x, transform: {expr: b}}
		        type: map
		      - id: p
		        branches:
		          z: [{type: exit, id: q}]
		          a:
		            catch: {next: n}
		            nodes:
		              - type: exit
		                id: e
		        type: parallel
		    name: t
		`, want: `
		tools:
		  - name: t
		    nodes:
		      - id: m
		        type: map
		        nodes:
		          - {id: x, type: transform, transform: {expr: b}}
		      - id: p
		        type: parallel
		        branches:
		          z: [{id: q, type: exit}]
		          a:
		            catch: {next: n}
		            nodes:
		              - id: e
		                type: exit
		`},
	{name: "schemas are data", in: `
		tools:
		  - inputSchema: {type: object, properties: {name: {type: string}, id: {type: string}}}
		    outputSchema:
		      properties: {type: {}, id: {}}
		      type: object
		    name: t
		`, want: `
		tools:
		  - name: t
		    inputSchema: {type: object, properties: {name: {type: string}, id: {type: string}}}
		    outputSchema:
		      properties: {type: {}, id: {}}
		      type: object
		`},
	{name: "nothing passes an anchor", in: `
		nodes:
		  - next: b
		    type: mcp
		    args: &a {x: 1}
		    tool: t
		    server: s
		  - next: c
		    id: b
		    <<: {type: exit}
		  - {type: mcp, id: c, args: *a, tool: t, server: s}
		`, want: `
		nodes:
		  - type: mcp
		    next: b
		    args: &a {x: 1}
		    server: s
		    tool: t
		  - next: c
		    id: b
		    <<: {type: exit}
		  - {id: c, type: mcp, args: *a, server: s, tool: t}
		`},
	{name: "comments", in: `
		# first


		# second
		a: 1    # of a
		        # more of a
		      # deeper
		b:
		      # of c
		      c: 1
		      # behind c
		   # in b
		# of d
		d: # at d
		    # of the item
		    -   x  # of x
		    # of y
		    -   # of the map
		        y: 1

		    # - z
		# last
		`, want: `
		# first

		# second
		a: 1    # of a
		        # more of a
		  # deeper
		b:
		  # of c
		  c: 1
		  # behind c
		  # in b
		# of d
		d: # at d
		  # of the item
		  - x  # of x
		  # of y
		  -   # of the map
		    y: 1

		  # - z
		# last
		`},
	{name: "scalars of several lines", in: `
		a: one
		     two

		     three
		b: "one
		  two \
		      three"
		c:
		    one
		     two
		d: |
		      one
		        two
		e: >-
		   one

		   two
		f: |2
		    one
		   two
		g: |+
		    one

		h: [1,
		    2,
		      3
		]
		`, want: `
		a: one
		  two

		  three
		b: "one
		  two \
		  three"
		c:
		  one
		  two
		d: |
		  one
		    two
		e: >-
		  one

		  two
		f: |2
		    one
		   two
		g: |+
		  one

		h: [1,
		    2,
		      3
		]
		`},
	{name: "long expressions", in: `
		nodes:
		  - id: a
		    type: transform
		    transform:
		      expr: '{ "a": 1,
		               "it''s": "b  c" }' # why
		    next: b
		  - {id: b, type: transform, transform: {expr: '{ "aaaaaaaaaaaaaaaaaaaaaaa": $.b, "cccccccccccccccccccccccc": $.d, "eeeeeeeeeeeeee": $.f }'}, next: a}
		  - id: c
		    type: mcp
		    args: {p: {expr: "a\n  + b\n"}, q: [1, {expr: $.x}]} # args
		  - id: d
		    type: transform
		    transform: {expr: "'two  words' &
		      'three'"}
		`, want: `
		nodes:
		  - id: a
		    type: transform
		    transform:
		      expr: |- # why
		        { "a": 1,
		          "it's": "b  c" }
		    next: b
		  - id: b
		    type: transform
		    transform:
		      expr: |-
		        { "aaaaaaaaaaaaaaaaaaaaaaa": $.b, "cccccccccccccccccccccccc": $.d, "eeeeeeeeeeeeee": $.f }
		    next: a
		  - id: c
		    type: mcp
		    args: # args
		      p:
		        expr: |
		          a
		            + b
		      q: [1, {expr: $.x}]
		  - id: d
		    type: transform
		    transform:
		      expr: |-
		        'two  words' &
		          'three'
		`},
	{name: "expressions are indented", in: `
		nodes:
		  - type: transform
		    transform:
		      expr: |
		        (
		            $a := "x
		          y";
		            /* a
		               comment */
		          $b := $map([1,2], function($v) {
		          $v + 1
		          });
		          $a = 1 ? "one"
		                 : "two";
		          $foo(1,
		               2);
		            $a.b
		              .c
		              .d(
		             1
		            )
		        )
		`, want: `
		nodes:
		  - type: transform
		    transform:
		      expr: |
		        (
		          $a := "x
		          y";
		          /* a
		               comment */
		          $b := $map([1,2], function($v) {
		            $v + 1
		          });
		          $a = 1 ? "one"
		                 : "two";
		          $foo(1,
		               2);
		          $a.b
		            .c
		            .d(
		              1
		            )
		        )
		`},
	{name: "tests", path: "a.test.yaml", in: `
		config: a.yaml
		tests:
		- expect: {result: {b: 1, a: 2}}
		  mocks:
		  - {tool: x, server: y}
		  arguments: {z: 1}
		  tool: t
		  name: n
		  cases:
		  - {expect: {}, name: c}
		`, want: `
		config: a.yaml
		tests:
		  - name: n
		    tool: t
		    arguments: {z: 1}
		    mocks:
		      - {tool: x, server: y}
		    expect: {result: {b: 1, a: 2}}
		    cases:
		      - {name: c, expect: {}}
		`},
	{name: "flow style", in: `
		{
		    "tools": [{"nodes": [{"type": "entry", "id": "e"}],
		        "name": "t"}]
		}
		`, want: `
		{
		    "tools": [{"name": "t",
		        "nodes": [{"id": "e", "type": "entry"}]}]
		}
		`},
	{name: "explicit keys stay", in: `
		a:
		    ? b
		    : c
		    ? |
		      d
		`, want: `
		a:
		  ? b
		  : c
		  ? |
		    d
		`},
	{name: "markers", in: `
		%YAML 1.2
		# one
		---

		a:   1
		...
		# two
		`, want: `
		%YAML 1.2
		# one
		---

		a: 1
		...
		# two
		`},
	{name: "empty values and lists in lists", in: `
		a:
		b:
		   # none
		c:
		-
		- - x
		  -  - y
		     - z
		- # n
		d: &x
		e: !!str
		`, want: `
		a:
		b:
		  # none
		c:
		  -
		  - - x
		    - - y
		      - z
		  - # n
		d: &x
		e: !!str
		`},
}
