import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { launchChromium } from './launch-chromium.js'

/** One browser for all tests of a file. Returns what gives it, in hooks and tests. */
export function oneBrowser(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
  })
  return () => {
    if (browser === undefined) throw new Error('the browser starts in a hook of the tests')
    return browser
  }
}
