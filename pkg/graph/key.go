package graph

// Key names the node among all nodes of its file: the name of the tool, "#" and the
// static path of the node in it, such as "report#info", "report#sizes[].info" (in the
// body of a map) and "report#both.news.fetch" (in the branch "news" of "both").
func (n *Node) Key() string { return n.key }

// setKeys sets the keys of the nodes of a graph and of the bodies in it. path is what
// stands before their ids.
func (g *Graph) setKeys(path string) {
	for _, n := range g.Nodes {
		n.key = path + n.ID
		for i, body := range n.Bodies {
			switch {
			case n.Spread == nil:
			case n.Spread.Each:
				body.setKeys(n.key + "[].")
			case i < len(n.Spread.Names):
				body.setKeys(n.key + "." + n.Spread.Names[i] + ".")
			}
		}
	}
}
