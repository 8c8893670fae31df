import { fileURLToPath } from 'node:url'
import { type Deployment, rollOut } from '@leasehold/testing/rolling-deployment'
import type { OldAndNewTask } from './old-and-new.js'

const entry = fileURLToPath(new URL('./old-and-new.ts', import.meta.url))

/** Replaces five processes of the library, one by one, with kills. */
export function replaceProcesses(
  folder: string,
  task: Pick<OldAndNewTask, 'port' | 'library' | 'name' | 'semaphorePath'>,
): Promise<Deployment> {
  const taskOf = (owner: string, isOld: boolean): OldAndNewTask => {
    return { ...task, owner, isOld, ttl: 600, work: 5, pause: 60 }
  }
  return rollOut({ folder, entry, taskOf })
}
