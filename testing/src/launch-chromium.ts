import { type Browser, chromium } from 'playwright-core'
import { chromiumProgram } from './chromium-program.js'

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
