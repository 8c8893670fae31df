import type { Reporter, SerializedError, TestModule, TestSuite } from 'vitest/node'

interface Counts {
  passed: number
  failed: number
  skipped: number
}

/**
 * Ends the output of the run with the line `N passed, N failed, N skipped`. A file that does not load, a hook that fails
 * and an uncaught error count as one failure each.
 */
export class ClosingLineReporter implements Reporter {
  #armed = false
  #line = ''

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts: Counts = { passed: 0, failed: unhandled.length, skipped: 0 }
    for (const module of modules) count(module, counts)
    this.#line = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`
    this.#printAtExit()
  }

  // Other reporters, and vitest itself, may still write until the process exits.
  #printAtExit(): void {
    if (this.#armed) return
    this.#armed = true
    process.once('exit', () => process.stdout.write(`${this.#line}\n`))
  }
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
