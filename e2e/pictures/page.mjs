// The pictures of the page that the docs show.
import path from 'node:path'
import { root } from '../app.mjs'

// example opens the page of an example.
async function example(t, name, options) {
  const app = await t.app({ file: path.join(root, 'examples', name) })
  return t.open(app, options)
}

const save = (p, name) => p.page.screenshot({ path: path.join(process.env.PICTURES, `${name}.png`) })

export default {
  'a run of a map': async (t) => {
    const p = await example(t, 'map.yaml')
    await p.run({ folder: 'examples/data' })
    await p.is('done')
    await p.node('total').click()
    await p.inspect('Out')
    await p.page.waitForTimeout(500)
    await save(p, 'page-run')
  },

  'paused in an item': async (t) => {
    const p = await example(t, 'map.yaml', { colorScheme: 'dark' })
    await p.breakpoint('count')
    await p.run({ folder: 'examples/data' })
    await p.is('paused')
    await p.node('count').click()
    await p.inspect('Document')
    const panel = await p.tab('Console')
    await panel.waitFor()
    await p.prompt.fill('$previousNode()')
    await p.prompt.press('Enter')
    await p.page.waitForTimeout(500)
    await save(p, 'page-paused')
  },

  'a mistake in the file': async (t) => {
    const p = await example(t, 'failures.yaml')
    await p.tab('YAML')
    await p.editor.click()
    await p.page.keyboard.press('Control+f')
    await p.page.keyboard.type('next: found')
    await p.page.keyboard.press('Enter')
    await p.page.keyboard.press('Escape')
    await p.page.keyboard.type('next: fuond')
    await p.page.keyboard.press('Home')
    await p.tab('Problems')
    await p.page.getByText('fuond').first().waitFor()
    await p.page.waitForTimeout(1500)
    await save(p, 'page-problem')
  },
}
