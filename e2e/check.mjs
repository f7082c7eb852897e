import { App } from './app.mjs'
import { Page } from './page.mjs'
import { Upstream } from './upstream.mjs'

// Check is what a check works with. What it starts ends with it.
export class Check {
  #ends = []
  pages = []

  #browser

  constructor(browser) {
    this.#browser = browser
  }

  // upstream starts an upstream server.
  async upstream() {
    const up = await Upstream.start()
    this.#ends.push(() => up.stop())
    return up
  }

  // app starts a process of mcpgraph.
  async app(options) {
    const app = await App.start(options)
    this.#ends.push(() => app.stop())
    return app
  }

  // open opens the page of an app in a context of its own. init is run in it before the page.
  async open(app, { init, ...options } = {}) {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 720 }, reducedMotion: 'reduce', ...options })
    context.setDefaultTimeout(40_000)
    this.#ends.push(() => context.close())
    if (init) await context.addInitScript(init)
    const page = await Page.open(context, app)
    this.pages.push(page)
    return page
  }

  // later does something at the end of the check.
  later(end) {
    this.#ends.push(end)
  }

  async end() {
    for (const end of this.#ends.reverse()) await end()
  }
}
