// The lists of the left pane, and tabs that have little room.
import assert from 'node:assert/strict'
import { until } from '../app.mjs'

const offers = `version: "1.0"
server: {name: offers, version: "1"}
prompts:
  - name: ask_about
    description: Asks about a topic
    arguments: [{name: topic, required: true}]
    messages: [{role: user, text: {expr: "'What is ' & topic & '?'"}}]
resources:
  - uri: "notes://today"
    name: today
    description: What is to be done today
    mimeType: text/plain
    nodes:
      - {id: entry, type: entry, next: list}
      - {id: list, type: transform, transform: {expr: "'tea'"}, next: exit}
      - {id: exit, type: exit}
tools:
  - name: plain
    description: Says something
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: say}
      - {id: say, type: transform, transform: {expr: "'something'"}, next: exit}
      - {id: exit, type: exit}
`

export default {
  'tools, prompts and resources stand under their headings and run': async (t) => {
    const app = await t.app({ text: offers })
    const p = await t.open(app)
    const tools = await p.tab('Tools')
    for (const [heading, name, tool] of [['Tools', 'plain', 'plain'], ['Prompts', 'ask_about', 'prompts/ask_about'], ['Resources', 'today', 'resources/today']]) {
      await tools.getByRole('heading', { name: heading }).waitFor()
      const list = tools.getByRole('list', { name: heading })
      assert.equal(await list.getByRole('listitem').count(), 1, heading)
      await list.getByRole('button', { name: new RegExp(`^${name}`) }).click()
      assert.equal(await p.tool.inputValue(), tool)
      await p.node('exit').waitFor()
      assert.equal(await list.getByRole('button').getAttribute('aria-current'), 'true')
    }
    await tools.getByRole('searchbox').fill('topic')
    await until('the prompt alone', async () => (await tools.getByRole('heading').allTextContents()).join() === 'Prompts')
    await tools.getByRole('button', { name: /^ask_about/ }).click()
    await p.run({ topic: 'a graph' })
    await p.is('done')
    await p.shows('Out', /messages: \[1 item/)
    const { runs } = await app.api('/api/runs')
    assert.equal((await app.api(`/api/runs/${runs[0].id}`)).run.result.messages[0].content.text, 'What is a graph?')
  },

  'the tabs of a narrow inspector stand in one row': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    const bar = p.inspector.getByRole('tablist', { name: 'Inspector' }).last() // the first one is that of the pane
    assert.ok((await bar.boundingBox()).width <= 330)
    const tabs = await bar.getByRole('tab').all()
    assert.equal(tabs.length, 9)
    const tops = await Promise.all(tabs.map(async (tab) => (await tab.boundingBox()).y))
    assert.equal(new Set(tops).size, 1, `tabs at ${tops}`)
    const inside = async (name) => {
      const box = await bar.boundingBox()
      const tab = await bar.getByRole('tab', { name: new RegExp(`^${name}`) }).boundingBox()
      return tab.x >= box.x - 1 && tab.x + tab.width <= box.x + box.width + 1
    }
    assert.ok(!(await inside('Compare')), 'all tabs have room')
    const more = p.inspector.locator('.tabs-more.right') // for the mouse alone: it has no role
    for (let i = 0; i < 5 && (await more.count()) > 0; i++) {
      await more.click()
      await p.page.waitForTimeout(50)
    }
    await until('the last tab is in sight', () => inside('Compare'))
    await bar.getByRole('tab', { name: 'Out' }).click()
    await p.page.keyboard.press('End')
    await until('the chosen tab is in sight', () => inside('Compare'))
    assert.equal(await bar.getByRole('tab', { name: /^Compare/ }).getAttribute('aria-selected'), 'true')
    await p.page.keyboard.press('Home')
    await until('the first tab is in sight', () => inside('In'))
  },
}
