import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'

/** The test context. Concurrent tests have to pass their own. */
export type Finishing = Pick<TestContext, 'onTestFinished'>

/** A folder for this test only, removed when the test ends. */
export function temporaryFolder(test: Finishing = { onTestFinished }): string {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-config-'))
  test.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
