// Processes of mcpgraph, as a check starts them.
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'

const here = path.dirname(new URL(import.meta.url).pathname)
export const root = path.dirname(here)

// App is one process with a page, on a copy of a file.
export class App {
  output = ''
  #last = 0
  #waiting = new Map()

  // start runs a command of mcpgraph on a file of testdata, or on a text, and waits
  // for the address of its page.
  // With durable, it is the program of testdata/durable instead.
  static async start({ file, text, command = 'ui', args = [], env = {}, durable = false }) {
    const app = new App()
    app.folder = await mkdtemp(path.join(os.tmpdir(), 'mcpgraph-e2e-'))
    if (text !== undefined) {
      app.file = path.join(app.folder, file ?? 'tools.yaml')
      await writeFile(app.file, text)
    } else if (path.isAbsolute(file)) {
      app.file = file
    } else {
      app.file = path.join(app.folder, file)
      await cp(path.join(here, 'testdata', file), app.file)
    }
    const ui = command === 'serve' ? ['--ui', '127.0.0.1:0'] : []
    const [program, line] = durable ? [process.env.DURABLE_BINARY, [app.file]] : [process.env.MCPGRAPH_BINARY, [command, app.file, ...ui, ...args]]
    app.process = spawn(program, line, {
      cwd: path.isAbsolute(file ?? '') ? root : app.folder,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    app.ended = new Promise((done) => app.process.on('exit', done))
    const found = new Promise((done) => {
      const read = (chunk) => {
        app.output += chunk
        const address = /(http:\/\/[^\s/]+)\/#token=([\w-]+)/.exec(app.output)
        if (address) done(address)
      }
      if (command === 'serve') app.#listen()
      else app.process.stdout.on('data', read)
      app.process.stderr.on('data', read)
    })
    const address = await Promise.race([found, app.ended.then(() => null), sleep(20_000).then(() => null)])
    if (!address) {
      await app.stop()
      throw new Error(`mcpgraph ${command} printed no address of a page:\n${app.output}`)
    }
    app.url = address[0]
    app.origin = address[1]
    app.token = address[2]
    return app
  }

  // #listen reads the answers of MCP, which are alone on stdout.
  #listen() {
    readline.createInterface({ input: this.process.stdout }).on('line', (line) => {
      const message = JSON.parse(line)
      this.#waiting.get(message.id)?.(message)
    })
  }

  // mcp sends a request of MCP over stdio and returns its result.
  async mcp(method, params) {
    const id = ++this.#last
    const answer = new Promise((done) => this.#waiting.set(id, done))
    this.process.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
    const { result, error } = await answer
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

  // connect makes the check an MCP client of serve.
  async connect() {
    await this.mcp('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'check', version: '1.0.0' } })
    this.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  }

  // api asks the API of the page, as the page does.
  async api(route, body, more = {}) {
    const response = await fetch(this.origin + route, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...more },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${route}: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  read() {
    return readFile(this.file, 'utf8')
  }

  write(text) {
    return writeFile(this.file, text)
  }

  async stop() {
    this.process.kill('SIGTERM')
    await Promise.race([this.ended, sleep(3_000)])
    this.process.kill('SIGKILL')
    await rm(this.folder, { recursive: true, force: true })
  }
}

const ports = new Set()

// freePort returns a port that nobody listens at, for a process that is to end and to
// begin again there. Meanwhile nobody else may get it: it is below those that the system
// gives to whoever asks for any, as all other processes here do, and connections.
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    if (ports.has(port)) continue
    ports.add(port)
    const free = await new Promise((done) => {
      const s = net.createServer().on('error', () => done(false)).listen(port, '127.0.0.1', () => s.close(() => done(true)))
    })
    if (free) return port
  }
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

// until waits for what a function returns to be true, and returns it. what is a text,
// or returns one, for the error.
export async function until(what, condition, limit = 40_000) {
  const end = Date.now() + limit
  for (;;) {
    const value = await condition()
    if (value) return value
    if (Date.now() > end) throw new Error(`not within ${limit / 1000} s: ${typeof what === 'function' ? what() : what}`)
    await sleep(30)
  }
}
