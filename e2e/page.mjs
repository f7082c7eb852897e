// The page as a person uses it: found by roles and names, used by clicks and keys.
import assert from 'node:assert/strict'
import { until } from './app.mjs'

const commands = { Pause: 'pause', Resume: 'resume', Step: 'step', 'Step into': 'stepInto', 'Step out': 'stepOut', Stop: 'stop' }

export class Page {
  faults = [] // what no page may do: errors, violations of the policy, requests to others
  tolerated = [] // faults that a check expects

  static async open(context, app) {
    const p = new Page()
    p.context = context
    p.app = app
    p.page = await context.newPage()
    p.#watch()
    await p.page.goto(app.url)
    await p.tool.waitFor()
    return p
  }

  #watch() {
    const fault = (text) => this.faults.push(text)
    this.page.on('pageerror', (error) => fault(`error: ${error.stack ?? error}`))
    this.page.on('dialog', (dialog) => {
      fault(`dialog: ${dialog.message()}`)
      dialog.dismiss()
    })
    this.page.on('console', (message) => {
      if (message.type() === 'error' || /content security policy/i.test(message.text())) fault(`console: ${message.text()} ${message.location().url}`)
    })
    this.page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${this.app.origin}/`) && !url.startsWith('data:') && !url.startsWith('blob:')) fault(`request to ${url}`)
    })
  }

  // tolerate says that faults like this one are what the check provokes.
  tolerate(pattern) {
    this.tolerated.push(pattern)
  }

  mustBeClean() {
    assert.deepEqual(this.faults.filter((f) => !this.tolerated.some((p) => p.test(f))), [], 'the page did what no page may do')
  }

  // remains returns what helps to understand why a check failed.
  async remains(screenshot) {
    if (screenshot) await this.page.screenshot({ path: screenshot })
    return `\npage at the end${screenshot ? ` (${screenshot})` : ''}: state ${JSON.stringify(await this.state().catch(() => '?'))}, faults ${JSON.stringify(this.faults)}`
  }

  // ---- toolbar
  get tool() {
    return this.page.getByRole('combobox', { name: 'Tool', exact: true })
  }

  // button returns a button by its name; a key may follow that.
  button(name) {
    return this.page.getByRole('button', { name: new RegExp(`^${name}( \\(.*\\))?$`) })
  }

  // control returns a button of the run control.
  control(name) {
    return this.page.getByRole('group', { name: 'Run control' }).getByRole('button', { name: new RegExp(`^${name}( \\(.*\\))?$`) })
  }

  // press clicks a button of the run control. A command is over once it is answered:
  // what a check does next comes after it.
  async press(name) {
    const command = commands[name]
    const answered = command && this.page.waitForResponse((r) => new RegExp(`/api/sessions/[^/]+/${command}$`).test(r.url()))
    await this.control(name).click()
    await answered
  }

  state() {
    return this.page.getByRole('group', { name: 'Run state' }).innerText({ timeout: 5_000 })
  }

  // is waits for a state of the run: a word or a pattern.
  is(state) {
    const pattern = state instanceof RegExp ? state : new RegExp(`\\b${state}\\b`, 'i')
    return until(`state ${pattern}`, async () => pattern.test(await this.state()))
  }

  // ---- tabs
  async tab(name) {
    await this.page.getByRole('tab', { name: new RegExp(`^${name}\\b`) }).click()
    return this.page.getByRole('tabpanel', { name: new RegExp(`^${name}\\b`) })
  }

  // ---- graph
  get graph() {
    return this.page.getByRole('group', { name: /^Graph of / })
  }

  // node returns a node of the graph by its id.
  node(id) {
    return this.graph.getByRole('button', { name: new RegExp(`^${id}(,|$)`) })
  }

  // look waits until the name of a node says something, such as its state.
  look(id, pattern) {
    return until(`node ${id} ${pattern}`, async () => pattern.test((await this.name(id)) ?? ''))
  }

  // name returns what a screen reader says of a node.
  name(id) {
    return this.node(id).locator('.sr-only').textContent()
  }

  // ids returns the ids of the nodes that are drawn.
  ids() {
    return this.graph.getByRole('group').evaluateAll((all) => all.map((n) => n.getAttribute('aria-label')).filter((n) => n && !n.startsWith('Body ')))
  }

  // menu chooses an item of the menu of a node.
  async menu(id, item) {
    await this.node(id).click({ button: 'right' })
    await this.page.getByRole('menuitem', { name: item }).click()
  }

  // breakpoint sets or removes the breakpoint of a node.
  async breakpoint(id) {
    await this.graph.getByRole('button', { name: `Breakpoint at ${id}`, exact: true }).click()
  }

  // ---- input
  async input() {
    return this.tab('Input')
  }

  // give writes the arguments of the next run as JSON.
  async give(args) {
    const panel = await this.input()
    await panel.getByRole('radio', { name: 'JSON' }).check()
    await panel.getByRole('textbox', { name: /^Arguments of .* as JSON$/ }).fill(JSON.stringify(args))
  }

  // run starts the tool with these arguments.
  async run(args = {}) {
    await this.give(args)
    await this.press('Run')
  }

  // ---- file
  get editor() {
    return this.page.getByRole('textbox', { name: /, YAML\./ })
  }

  // ---- console
  get prompt() {
    return this.page.getByRole('textbox', { name: /^JSONata expression/ })
  }

  // ---- inspector
  get inspector() {
    return this.page.getByRole('region', { name: 'Inspector' })
  }

  async inspect(tab) {
    await this.inspector.getByRole('tab', { name: new RegExp(`^${tab}\\b`) }).click()
    return this.inspector.getByRole('tabpanel', { name: new RegExp(`^${tab}\\b`) })
  }

  // executions returns how many executions of the chosen node there are.
  async executions() {
    const name = await this.inspector.getByRole('textbox', { name: /^Execution, of/ }).getAttribute('aria-label', { timeout: 1_000 }).catch(() => 'of 1')
    return Number(/\d+/.exec(name)[0])
  }

  // execution chooses an execution of the chosen node, from 1.
  async execution(n) {
    const field = this.inspector.getByRole('textbox', { name: /^Execution, of/ })
    await field.fill(String(n))
    await field.press('Enter')
  }

  // shows waits until a tab of the inspector shows a text.
  async shows(tab, pattern) {
    const panel = await this.inspect(tab)
    let text
    await until(() => `${tab} shows ${pattern} in ${text}`, async () => pattern.test((text = await panel.textContent())))
  }
}
