import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Finishing } from '@leasehold/testing'
import { Fleet } from '@leasehold/testing/fleet'
import type { WorkerTask } from '../../programs/worker.js'

/** Native modules are found from a folder below the repository only. */
const cache = fileURLToPath(new URL('../../../../../node_modules/.cache', import.meta.url))

/** Processes of `worker.ts`, which end with the test. */
export async function workers(test: Finishing): Promise<Fleet<WorkerTask>> {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'leasehold-ui-'))
  test.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const fleet = await Fleet.create<WorkerTask>(
    folder,
    fileURLToPath(new URL('../../programs/worker.ts', import.meta.url)),
  )
  test.onTestFinished(() => fleet.stop())
  return fleet
}
