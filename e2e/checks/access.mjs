// Everybody can use the page.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { until } from '../app.mjs'

export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// violations returns what axe finds on the page as it is.
export async function violations(p) {
  const { violations } = await p.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary}`))
}

async function audit(t, colorScheme) {
  const up = await t.upstream()
  const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
  const p = await t.open(app, { colorScheme })
  await p.context.addInitScript(axe)
  await p.page.reload()
  await p.tool.waitFor()
  const found = {}
  const look = async (where) => {
    const list = await violations(p)
    for (const fault of list) (found[fault] ??= []).push(where)
  }
  await p.tool.selectOption('items')
  await p.node('part').waitFor()
  await look('at rest')
  await p.breakpoint('twice')
  await p.run({ values: [1, 2] })
  await p.is('paused')
  await look('paused')
  await p.node('part').click()
  for (const tab of ['In', 'Args', 'Out', 'Document', 'Definition', 'Error', 'Pin', 'Watch']) {
    await p.inspect(tab)
    await look(`inspector: ${tab}`)
  }
  for (const tab of ['Table', 'Events', 'Console', 'Problems', 'Timeline', 'Tools', 'Servers', 'Runs', 'Input']) {
    await p.tab(tab)
    await look(tab)
  }
  await p.tool.selectOption('widgets')
  await p.tab('Input')
  await look('widgets')
  await p.tab('YAML')
  await p.editor.waitFor()
  await look('YAML')
  assert.deepEqual(found, {})
}

export default {
  'axe finds nothing in the light theme': (t) => audit(t, 'light'),
  'axe finds nothing in the dark theme': (t) => audit(t, 'dark'),

  'everything by keyboard': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    const key = (k) => p.page.keyboard.press(k)
    // to moves the focus with Tab until it is at a locator.
    const to = async (what, locator) => {
      for (let i = 0; i < 150; i++) {
        if (await locator.evaluate((e) => e === document.activeElement || e.contains(document.activeElement)).catch(() => false)) return
        await key('Tab')
      }
      throw new Error(`Tab does not lead to ${what}`)
    }
    await to('the tools', p.tool)
    await p.page.keyboard.type('chain')
    await p.node('two').waitFor()
    await to('the graph', p.graph)
    await key('Home')
    for (let i = 0; i < 8 && (await p.node('two').getAttribute('aria-current')) !== 'true'; i++) await key('ArrowDown')
    await key('F9')
    await p.look('two', /breakpoint/)
    await key('Shift+F10')
    await p.page.getByRole('menu').waitFor()
    await key('ArrowDown')
    await key('Escape')
    await p.page.getByRole('menu').waitFor({ state: 'detached' })
    await to('Run', p.control('Run'))
    await key('Enter')
    await p.is('paused')
    await key('F10')
    await p.is(/paused.*three/s)
    await key('F8')
    await p.is('done')
    const tab = p.page.getByRole('tab', { name: 'Timeline' })
    await to('the tabs below', tab.locator('xpath=..'))
    for (const name of ['Table', 'Events', 'Console', 'Problems', 'Timeline']) {
      for (let i = 0; i < 6 && (await p.page.getByRole('tab', { name, exact: true }).getAttribute('aria-selected')) !== 'true'; i++) await key('ArrowRight')
      await until(`the tab ${name}`, async () => (await p.page.getByRole('tab', { name, exact: true }).getAttribute('aria-selected')) === 'true')
    }
  },

  'no scrolling of the page at 1280×720, usable at 800 px': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    const scrolls = () => p.page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight])
    await p.tool.selectOption('widgets')
    await p.tab('Input')
    assert.deepEqual(await scrolls(), [0, 0])
    await p.page.setViewportSize({ width: 800, height: 720 })
    await p.tool.selectOption('simple')
    await p.run({ n: 1 })
    await p.is('done')
    assert.ok((await scrolls())[0] <= 0, 'the page scrolls sideways')
  },
}
