// An upstream MCP server over HTTP whose tools do what the check says, and which
// remembers every call of a tool.
import http from 'node:http'

const anything = { type: 'object' }

// The tools that every upstream has. echo answers with its arguments.
const listed = [
  { name: 'echo', description: 'Answers with its arguments', inputSchema: anything },
  { name: 'slow', description: 'Answers when it may', inputSchema: anything },
  { name: 'flaky', description: 'Fails when it should', inputSchema: anything, annotations: { readOnlyHint: true } },
  { name: 'header', description: 'Answers with the header Authorization', inputSchema: anything },
]

export class Upstream {
  tools = listed
  startTime = 0 // ms until it answers to initialize
  calls = [] // {tool, args, state: running | answered | failed | cancelled}
  #behaviours = new Map()
  #held = []
  #server

  static async start() {
    const up = new Upstream()
    up.#server = http.createServer((request, response) => up.#serve(request, response))
    await new Promise((done) => up.#server.listen(0, '127.0.0.1', done))
    up.url = `http://127.0.0.1:${up.#server.address().port}/mcp`
    return up
  }

  stop() {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  // on sets what a tool does: a function of its arguments, the headers of the
  // request and the number of the call, which returns a value or throws.
  on(tool, behaviour) {
    this.#behaviours.set(tool, behaviour)
  }

  // hold lets the calls of a tool wait until release.
  hold(tool) {
    this.on(tool, (args) => new Promise((done) => this.#held.push({ tool, go: () => done(args) })))
  }

  release(tool) {
    const waiting = this.#held.filter((h) => h.tool === tool)
    this.#held = this.#held.filter((h) => h.tool !== tool)
    waiting.forEach((h) => h.go())
  }

  of(tool) {
    return this.calls.filter((c) => c.tool === tool)
  }

  async #serve(request, response) {
    if (request.method !== 'POST') return response.writeHead(405).end()
    let body = ''
    for await (const chunk of request) body += chunk
    const message = JSON.parse(body)
    if (message.id === undefined) return response.writeHead(202).end()
    const reply = (fields) => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...fields }))
    }
    switch (message.method) {
      case 'initialize':
        await new Promise((done) => setTimeout(done, this.startTime))
        return reply({ result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'upstream', version: '1.0.0' } } })
      case 'tools/list':
        return reply({ result: { tools: this.tools } })
      case 'tools/call':
        return this.#call(message.params, request.headers, response, reply)
    }
    reply({ error: { code: -32601, message: 'method not found' } })
  }

  async #call({ name, arguments: args }, headers, response, reply) {
    const call = { tool: name, args, state: 'running' }
    this.calls.push(call)
    response.on('close', () => {
      if (call.state === 'running') call.state = 'cancelled'
    })
    const behaviour = this.#behaviours.get(name) ?? (name === 'header' ? () => ({ header: headers.authorization }) : (a) => a)
    try {
      const value = await behaviour(args, headers, this.of(name).length)
      if (call.state !== 'running') return
      call.state = 'answered'
      reply({ result: { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value } })
    } catch (error) {
      call.state = 'failed'
      reply({ result: { content: [{ type: 'text', text: error.message }], isError: true } })
    }
  }
}
