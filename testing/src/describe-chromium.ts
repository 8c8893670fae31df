import { chromiumProgram } from './chromium-program.js'
import { describeUnless } from './describe-unless.js'

/** Tests in a real browser: skipped where there is no `chromium`. */
export function describeChromium(title: string, tests: () => void): void {
  describeUnless(chromiumProgram.whyNot, title, tests)
}
