// Runs checks in one browser. A line of JSON on stdin names the check to run;
// a line of JSON on stdout says what came of it. The first line lists all checks.
// With the environment variable PICTURES, a folder, it takes the pictures of the docs.
import { mkdir } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'
import { chromium } from 'playwright-core'
import { Check } from './check.mjs'

const here = path.dirname(new URL(import.meta.url).pathname)
const checks = new Map()
const folder = process.env.PICTURES ? 'pictures' : 'checks'
for (const file of readdirSync(path.join(here, folder)).sort()) {
  const module = await import(`./${folder}/${file}`)
  for (const [name, check] of Object.entries(module.default)) {
    if (checks.has(name)) throw new Error(`two checks are called ${name}`)
    checks.set(name, check)
  }
}

if (process.env.ARTIFACTS) await mkdir(process.env.ARTIFACTS, { recursive: true })
const say = (value) => process.stdout.write(JSON.stringify(value) + '\n')
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--disable-dev-shm-usage', '--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
})
say({ checks: [...checks.keys()] })

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, check } = JSON.parse(line)
  run(check).then(
    () => say({ id }),
    (error) => say({ id, error: error.stack ?? String(error) }),
  )
}
await browser.close()

async function run(name) {
  const check = new Check(browser)
  try {
    await checks.get(name)(check)
    for (const page of check.pages) page.mustBeClean()
  } catch (error) {
    for (const [i, page] of check.pages.entries()) {
      error.stack += await page.remains(process.env.ARTIFACTS && path.join(process.env.ARTIFACTS, `${name.replace(/\W+/g, '-')}-${i}.png`)).catch((e) => `\n${e}`)
    }
    throw error
  } finally {
    await check.end()
  }
}
