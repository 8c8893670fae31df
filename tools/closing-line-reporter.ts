import type {} from '@leasehold/testing/describe-unless'
import type { Reporter, SerializedError, TestModule, TestSuite } from 'vitest/node'

interface Counts {
  passed: number
  failed: number
  skipped: number
}

/**
 * Ends the output of the run with the tests that were skipped because something is missing on this machine, and with the
 * line `N passed, N failed, N skipped`. A file that does not load, a hook that fails and an uncaught error count as one
 * failure each.
 */
export class ClosingLineReporter implements Reporter {
  #armed = false
  #lines: readonly string[] = []

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts: Counts = { passed: 0, failed: unhandled.length, skipped: 0 }
    for (const module of modules) count(module, counts)
    const line = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`
    this.#lines = [...missing(modules), line]
    this.#printAtExit()
  }

  // Other reporters, and vitest itself, may still write until the process exits.
  #printAtExit(): void {
    if (this.#armed) return
    this.#armed = true
    process.once('exit', () => process.stdout.write(`${this.#lines.join('\n')}\n`))
  }
}

/** What is missing on this machine, how many tests of which package were skipped for it, and the command that runs them. */
function missing(modules: readonly TestModule[]): string[] {
  const counts = new Map<string, Map<string, number>>()
  for (const module of modules) {
    const [top = '', name] = module.relativeModuleId.split('/')
    const place = name === undefined ? top : `${top}/${name}`
    for (const test of module.children.allTests('skipped')) {
      const { skippedFor } = test.meta()
      if (skippedFor === undefined) continue
      const places = counts.get(skippedFor) ?? new Map<string, number>()
      counts.set(skippedFor, places.set(place, (places.get(place) ?? 0) + 1))
    }
  }
  return [...counts].flatMap(([reason, places]) => [
    `Skipped: ${[...places].map(([place, number]) => `${number} in ${place}`).join(', ')}`,
    `  ${reason}`,
    `  then: npm test -- ${[...places.keys()].join(' ')}`,
  ])
}

function count(module: TestModule, counts: Counts): void {
  counts.failed += module.errors().length
  for (const suite of module.children.allSuites()) counts.failed += failedHooks(suite)
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    // A pending test never ran, so it counts as skipped.
    if (state === 'passed' || state === 'failed') counts[state] += 1
    else counts.skipped += 1
  }
}

function failedHooks(suite: TestSuite): number {
  return suite.errors().length
}
