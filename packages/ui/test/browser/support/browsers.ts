import { chromiumProgram } from '@leasehold/testing/chromium-program'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'

/** For how long the browser may take to start, and a page for any step, in milliseconds: a busy machine is slow. */
export const PATIENCE = 30_000

/** A headless browser. Root can run it only without a sandbox, and a small `/dev/shm` must not end it. */
export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  const { path, whyNot } = chromiumProgram
  if (path === undefined) throw new Error(whyNot)
  return chromium.launch({
    executablePath: path,
    timeout: PATIENCE,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
  })
}

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
