// What can be read and told apart.
import assert from 'node:assert/strict'
import path from 'node:path'
import { root, until } from '../app.mjs'

// smallest returns the size of the smallest text of the nodes and edges of the graph, as
// it is on the screen at 100 %.
const smallest = (p) => p.page.evaluate(() => {
  const zoom = new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a
  let least = Infinity
  const walk = document.createTreeWalker(document.querySelector('.react-flow__viewport'), NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement
    if (!e.closest('.sr-only') && walk.currentNode.textContent.trim() !== '') least = Math.min(least, parseFloat(getComputedStyle(e).fontSize) * zoom)
  }
  return least
})

// icons returns the names of all buttons without a text, by their icons.
const icons = (p) => p.page.evaluate(() => {
  const found = []
  for (const b of document.querySelectorAll('button.btn')) {
    const name = b.getAttribute('aria-label')
    if (name && b.querySelector('svg path') && b.innerText.trim() === '') found.push([b.querySelector('svg path').getAttribute('d'), name])
  }
  return found
})

export default {
  'text of the graph can be read, at 200 % too, and what has no room is panned to': async (t) => {
    for (const [file, tool] of [['page.yaml', 'counting'], [path.join(root, 'examples', 'failures.yaml'), 'read_note']]) {
      const app = await t.app({ file, env: { UPSTREAM: 'http://127.0.0.1:1/mcp' } })
      for (const options of [{}, { viewport: { width: 640, height: 360 }, deviceScaleFactor: 2 }, { viewport: { width: 1920, height: 1080 } }, { viewport: { width: 375, height: 700 } }]) {
        const p = await t.open(app, options)
        await p.tool.selectOption(tool)
        await p.node('entry').waitFor()
        await until(`text of 11 px at ${JSON.stringify(options)}`, async () => (await smallest(p)) >= 11)
        // Keys lead to each node, into sight.
        await p.graph.focus()
        await p.page.keyboard.press('End')
        const last = p.graph.locator('[aria-current="true"]')
        await until('the last node in sight', async () => {
          const [a, b] = [await last.boundingBox(), await p.graph.boundingBox()]
          return a && a.y >= b.y - 1 && a.y + a.height <= b.y + b.height + 1
        })
        await p.context.close()
      }
    }
  },

  'times on nodes say what they are, and are not cut': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('items')
    up.on('flaky', (args) => {
      if (args.value % 3 === 0) throw new Error('no')
      return args
    })
    await p.run({ values: Array.from({ length: 1200 }, (_, i) => i) })
    await p.is('done')
    assert.match(await p.name('part'), /1,200 executions, last [\d.]+ m?s, mean [\d.]+ m?s, max [\d.]+ m?s/)
    assert.match(await p.name('each'), /1 execution, last [\d.]+ (m?s|min)/)
    const figures = await p.graph.locator('.figures').evaluateAll((all) => all.map((f) => {
      const node = f.closest('.step').getBoundingClientRect(), own = f.getBoundingClientRect()
      return { text: f.textContent, counts: f.classList.contains('counts'), inside: own.left >= node.left && own.right <= node.right, whole: f.scrollWidth <= f.clientWidth + 1 }
    }))
    assert.ok(figures.length >= 4)
    for (const f of figures) {
      assert.ok(f.inside && f.whole, `cut: ${f.text}`)
      if (!f.counts) assert.match(f.text, /^(last|mean) [\d.]+ (m?s|min)/)
    }
    assert.ok(figures.some((f) => f.counts && /×1,200.*400 failed/.test(f.text)), JSON.stringify(figures))
  },

  'no two buttons share an icon': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('items')
    await p.run({ values: [1, 2, 3] })
    await p.is('done')
    await p.node('part').click()
    await p.page.getByRole('searchbox', { name: 'Search nodes' }).fill('p')
    const found = await icons(p)
    for (const tab of ['Runs', 'Servers', 'Input', 'Timeline', 'Console', 'Table', 'Events']) {
      await p.tab(tab)
      found.push(...(await icons(p)))
    }
    const does = (name) => name.replace(/ \(.*\)$/, '').replace(/^(Show|Close) the (left|right|bottom) pane$/, 'the $2 pane').replace(/^Theme: .*/, 'Theme')
      .replace(/^(Previous|Next) .*/, '$1').replace(/^Actions for .*/, 'Actions').replace(/^(Open|Close) up$/, 'Open a server')
    const by = new Map()
    for (const [icon, name] of found) by.set(icon, (by.get(icon) ?? new Set()).add(does(name)))
    assert.deepEqual([...by.values()].filter((names) => names.size > 1).map((names) => [...names]), [])
    assert.ok(by.size >= 15)
  },

  'the pane of executions is folded until there is a run': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('simple')
    await p.node('exit').waitFor()
    const panel = p.page.getByRole('tabpanel', { name: 'Timeline' })
    assert.equal(await panel.count(), 0)
    const before = (await p.graph.boundingBox()).height
    await p.run({ n: 1 })
    await p.is('done')
    await panel.waitFor()
    assert.ok((await p.graph.boundingBox()).height < before)
    const other = await t.open(await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } }))
    await other.tab('Problems')
    await other.page.getByText('No problems').waitFor()
  },
}
