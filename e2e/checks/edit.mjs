// Texts and pictures of the file that are edited while something else happens.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { until } from '../app.mjs'

async function open(t) {
  const up = await t.upstream()
  const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
  const p = await t.open(app)
  await p.tool.selectOption('simple')
  return { up, app, p }
}

// rename renames a node in the picture.
async function rename(p, from, to) {
  await p.menu(from, /^Rename/)
  const dialog = p.page.getByRole('dialog', { name: `Rename ${from}` })
  await dialog.getByRole('textbox', { name: 'New id' }).fill(to)
  await dialog.getByText(`+`, { exact: false }).first().waitFor()
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await p.node(to).waitFor()
}

export default {
  'edits of the picture are undone one by one, the last one first': async (t) => {
    const { app, p } = await open(t)
    const before = await app.read()
    await rename(p, 'first', 'erste')
    const between = await app.read()
    await rename(p, 'second', 'zweite')
    const offers = p.page.getByRole('button', { name: 'Undo', exact: true })
    await until('one offer', async () => (await offers.count()) === 1)
    await offers.click()
    await until('the last edit undone', async () => (await app.read()) === between)
    await p.node('second').waitFor()
    await p.node('second').click()
    await p.page.keyboard.press('Control+z')
    await until('both edits undone', async () => (await app.read()) === before)
  },

  'keys that are pressed fast undo each edit once': async (t) => {
    const { app, p } = await open(t)
    const before = await app.read()
    await rename(p, 'first', 'erste')
    await rename(p, 'second', 'zweite')
    await p.node('zweite').click()
    await p.page.keyboard.press('Control+z')
    await p.page.keyboard.press('Control+z')
    await until('both edits undone', async () => (await app.read()) === before)
    assert.equal(await p.page.getByRole('alert').count(), 0)
  },

  'what would be an error cannot be added': async (t) => {
    const { app, p } = await open(t)
    const before = await app.read()
    await p.node('first').click()
    await p.button('Add a node').click()
    const dialog = p.page.getByRole('dialog', { name: 'Add a node' })
    const add = dialog.getByRole('button', { name: 'Add', exact: true })
    const keys = dialog.getByRole('textbox', { name: 'Other keys as JSON' })
    await keys.fill('{"transform": {"expr": "$.first +"}}')
    await until('Add cannot act', async () => (await add.getAttribute('aria-disabled')) === 'true')
    assert.match(await dialog.locator(`[id="${await add.getAttribute('aria-describedby')}"]`).innerText(), /would have an error in line \d+/)
    await add.click({ force: true })
    await keys.press('Control+Enter')
    await keys.fill('{"transform": {"expr": "$.first"}}')
    await until('Add can act', async () => (await add.getAttribute('aria-disabled')) === null)
    assert.equal(await app.read(), before)
    await add.click()
    await p.node('step1').waitFor()
    assert.match(await app.read(), /id: step1/)
  },

  'what is refused is not said to be added': async (t) => {
    const { app, p } = await open(t)
    p.tolerate(/422/)
    const before = await app.read()
    // The answer to what is only tried does not come.
    await p.page.route(/\/api\/file\/edit$/, (route) => (route.request().postDataJSON().dryRun ? route.abort() : route.continue()))
    p.tolerate(/ERR_FAILED/)
    await p.button('Add a node').click()
    const dialog = p.page.getByRole('dialog', { name: 'Add a node' })
    await dialog.getByRole('textbox', { name: 'Other keys as JSON' }).fill('{"transform": {"expr": "$.first +"}}')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    const notice = await p.page.getByRole('alert').filter({ hasText: 'Not saved' }).innerText()
    assert.match(notice, /page\.yaml would have an error in line \d+/)
    assert.doesNotMatch(notice, /Added/)
    assert.equal(await app.read(), before)
  },

  'every type of node can be added': async (t) => {
    const { app, p } = await open(t)
    const schema = JSON.parse(execFileSync(process.env.MCPGRAPH_BINARY, ['schema'], { encoding: 'utf8', maxBuffer: 1 << 26 }))
    const types = schema.definitions.node.properties.type.enum.filter((type) => type !== 'entry') // each tool has one
    await p.tool.selectOption('items')
    for (const type of types) {
      await p.button('Add a node').click()
      const dialog = p.page.getByRole('dialog', { name: 'Add a node' })
      const options = await dialog.getByRole('combobox', { name: 'Type' }).locator('option').allTextContents()
      assert.deepEqual(options.toSorted(), types.toSorted())
      await dialog.getByRole('textbox', { name: 'Id' }).fill(`new_${type}`)
      await dialog.getByRole('combobox', { name: 'Type' }).selectOption(type)
      // A tool has one exit, and what stands behind a fail is not reached.
      const place = ['exit', 'fail'].includes(type) ? 'the end of each, each item' : 'entry → each'
      await dialog.getByRole('combobox', { name: 'Place' }).selectOption({ label: place })
      if (type === 'mcp') await dialog.getByRole('combobox', { name: 'Tool' }).fill('echo')
      if (type === 'call') await dialog.getByRole('combobox', { name: 'Tool of this file' }).selectOption('question')
      await dialog.getByText(`new_${type}`).first().waitFor() // in the diff
      const before = await app.read()
      await dialog.getByRole('button', { name: 'Add', exact: true }).click()
      await p.node(`new_${type}`).waitFor()
      await p.page.keyboard.press('Control+z')
      await p.node(`new_${type}`).waitFor({ state: 'detached' })
      assert.equal(await app.read(), before)
    }
  },

  'an empty file says what is missing': async (t) => {
    const app = await t.app({ text: '' })
    const p = await t.open(app)
    const problems = await p.tab('Problems')
    await problems.getByText('the file is empty').waitFor()
    await problems.getByText(/begin the configuration with version/).waitFor()
  },

  'a file whose variables are not set works, but for the servers that need them': async (t) => {
    const app = await t.app({ text: `version: "1.0"
server: {name: unset, version: "1"}
mcpServers:
  needy: {command: cat, env: {KEY: "\${E2E_NOT_SET}"}}
tools:
  - name: both
    description: Calls a server that cannot be started, and goes on
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: needy, tool: x, args: {}, catch: {next: after}, next: after}
      - {id: after, type: transform, transform: {expr: '"went on"'}, next: exit}
      - {id: exit, type: exit}
` })
    const p = await t.open(app)
    await p.run()
    await p.is('done')
    await p.shows('Out', /went on/)
    await p.node('call').click()
    await p.shows('Error', /missing E2E_NOT_SET/)
    await (await p.tab('Servers')).getByText('missing E2E_NOT_SET').first().waitFor()
    await rename(p, 'after', 'behind') // saved and loaded
    assert.match(await app.read(), /KEY: "\$\{E2E_NOT_SET\}"/)
  },

  'an edit of the picture says that there are changes that are not saved': async (t) => {
    const { p } = await open(t)
    await p.tab('YAML')
    await p.editor.getByText('version:').first().waitFor()
    await p.editor.click()
    await p.page.keyboard.press('Control+Home')
    await p.page.keyboard.type('# mine\n')
    await p.tab('Graph')
    await p.menu('second', /^Remove/)
    await p.page.getByRole('dialog').getByText(/changes that are not saved/).waitFor()
    await p.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  },

  'what was merged survives another change on disk': async (t) => {
    const { app, p } = await open(t)
    await p.tab('YAML')
    await p.editor.getByText('version:').first().waitFor()
    const before = await app.read()
    await p.editor.click()
    await p.page.keyboard.press('Control+Home')
    await p.page.keyboard.type('# mine\n')
    await app.write(before + '# theirs\n')
    await p.button('Show both').click()
    const mine = p.page.getByRole('textbox', { name: /^My text/ })
    await mine.click()
    await p.page.keyboard.press('Control+Home')
    await p.page.keyboard.type('# merged\n')
    await app.write(before + '# theirs again\n')
    await p.page.getByRole('textbox', { name: /^The file on disk/ }).getByText('# theirs again').waitFor()
    await mine.getByText('# merged').waitFor()
    // Both views go, and the text stays.
    await p.button('Hide both').click()
    await p.editor.getByText('# merged').waitFor()
    await p.button('Save mine').click()
    await until('the merged text', async () => (await app.read()).startsWith('# merged\n# mine\n'))
  },

  'a text with errors does not replace that of others unasked': async (t) => {
    const { app, p } = await open(t)
    p.tolerate(/422/)
    await p.tab('YAML')
    await p.editor.getByText('version:').first().waitFor()
    const before = await app.read()
    await p.editor.click()
    await p.page.keyboard.press('Control+Home')
    await p.page.keyboard.type('- bad\n')
    await app.write(before + '# theirs\n')
    await p.button('Save mine').click()
    await p.page.getByRole('alert').getByText(/Not saved/).waitFor()
    assert.equal(await app.read(), before + '# theirs\n')
  },

  'a long output is pinned whole, with all digits': async (t) => {
    const config = `version: "1.0"
server: {name: long, version: "1"}
tools:
  - name: long
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: much}
      - {id: much, type: transform, transform: {expr: '{"list": [1..4000].("item " & $)}'}, next: exit}
      - {id: exit, type: exit}
`
    const app = await t.app({ text: config })
    const p = await t.open(app)
    await p.run({})
    await p.is('done')
    await p.menu('much', /^Pin an output/)
    const dialog = p.page.getByRole('dialog')
    const field = dialog.getByRole('textbox')
    await until('the whole output', async () => (await field.inputValue()).includes('item 4000'))
    await field.press('Control+Home')
    await field.press('ArrowRight')
    await field.pressSequentially('"n": 12345678901234567890,')
    await dialog.getByRole('button', { name: 'Pin', exact: true }).click()
    await p.run({})
    const id = await until('the second run', async () => {
      const { runs } = await app.api('/api/runs')
      return runs.length === 2 && runs[0].state === 'done' && runs[0].id
    })
    const response = await fetch(`${app.origin}/api/runs/${id}/value?record=1&part=output`, { headers: { Authorization: `Bearer ${app.token}` } })
    const text = await response.text()
    assert.ok(text.includes('"n":12345678901234567890,"list":["item 1",') && text.includes('"item 4000"'), text.slice(0, 200))
  },

  'buttons that are icons are large enough to hit': async (t) => {
    const { p } = await open(t)
    for (const button of await p.page.getByRole('button').all()) {
      const box = await button.boundingBox()
      if (!box || !(await button.evaluate((b) => b.classList.contains('btn')))) continue
      assert.ok(box.height >= 18 && box.width >= 18, `${await button.getAttribute('aria-label')}: ${box.width} × ${box.height}`)
    }
  },
}
