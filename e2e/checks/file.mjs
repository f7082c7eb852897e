// The file on the page.
import assert from 'node:assert/strict'
import { until } from '../app.mjs'

async function editor(t) {
  const up = await t.upstream()
  const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
  const p = await t.open(app)
  await p.tab('YAML')
  const text = p.editor
  await text.getByText('version:').first().waitFor()
  return { up, app, p, text }
}

// replace replaces the first occurrence of a text in the editor, as a person does:
// with its search.
async function replace(p, text, from, to) {
  await text.click()
  await p.page.keyboard.press('Control+Home')
  await p.page.keyboard.press('Control+f')
  await p.page.keyboard.type(from)
  await p.page.keyboard.press('Enter')
  await p.page.keyboard.press('Escape')
  await p.page.keyboard.type(to)
}

export default {
  'bad YAML is refused at the character': async (t) => {
    const { app, p, text } = await editor(t)
    const before = await app.read()
    p.tolerate(/422/)
    await replace(p, text, 'next: second', 'next: secnd')
    await p.button('Save').click()
    await p.tab('Problems')
    const problems = p.page.getByRole('tabpanel', { name: 'Problems' })
    await problems.getByText(/secnd/).first().waitFor()
    const line = before.split('\n').findIndex((l) => l.includes('next: second'))
    const column = before.split('\n')[line].indexOf('second') + 1
    await until('the place', async () => (await problems.textContent()).includes(`${line + 1}:${column}`))
    await p.page.locator('.cm-lintRange-error').first().waitFor()
    assert.equal(await app.read(), before)
  },

  'a good file is saved and reloaded, comments kept': async (t) => {
    const { app, p, text } = await editor(t)
    const before = await app.read()
    await replace(p, text, 'first.n + 1', 'first.n + 2')
    await p.button('Save').click()
    await until('the file', async () => (await app.read()) === before.replace('first.n + 1', 'first.n + 2'))
    await p.tab('Graph')
    await p.tool.selectOption('simple')
    await p.run({ n: 1 })
    await p.is('done')
    await p.node('second').click()
    await p.shows('Out', /sum:?\s*3/)
  },

  'a change on disk is shown': async (t) => {
    const { app, p, text } = await editor(t)
    const before = await app.read()
    await app.write(before.replace('Adds one', 'Adds a one'))
    await until('the new text', async () => (await text.innerText()).includes('Adds a one'))
    await app.write(before.replace('name: simple', 'name: easy').replaceAll('tool: simple', 'tool: easy'))
    await until('the new tool', async () => (await p.tool.getByRole('option', { name: 'easy' }).count()) === 1)
  },

  'a conflict is seen': async (t) => {
    const { app, p, text } = await editor(t)
    const before = await app.read()
    await replace(p, text, 'Adds one', 'Adds mine')
    await app.write(before.replace('Adds one', 'Adds theirs'))
    await p.page.getByRole('alert').getByText(/changed on disk/i).waitFor()
    assert.ok(await p.button('Save').isDisabled())
    assert.ok((await app.read()).includes('Adds theirs'))
    await p.page.getByRole('button', { name: 'Save mine' }).click()
    await until('my text', async () => (await app.read()).includes('Adds mine'))
  },

  'completion in the editor': async (t) => {
    const { p, text } = await editor(t)
    await replace(p, text, 'next: second', 'next: ')
    await p.page.keyboard.press('Control+Space')
    await p.page.getByRole('option', { name: /second/ }).first().waitFor()
  },

  'a node is renamed, added and removed in the picture': async (t) => {
    const { app, p } = await editor(t)
    await p.tab('Graph')
    await p.tool.selectOption('simple')
    await p.menu('second', /^Remove/)
    const dialog = p.page.getByRole('dialog', { name: 'Remove second' })
    await dialog.getByText('id: second').waitFor() // the change of the file
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await p.node('second').waitFor({ state: 'detached' })
    const text = await app.read()
    assert.ok(!text.includes('id: second'))
    assert.ok(text.includes('# the comment of first'), 'the comment is lost')
  },
}
