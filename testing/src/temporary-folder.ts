import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'

/** The test whose end is awaited; tests that run side by side have to pass their context. */
export type Finishing = Pick<TestContext, 'onTestFinished'>

/** An empty folder for one test, removed at its end. */
export function temporaryFolder(test: Finishing = { onTestFinished }): string {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
  test.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
