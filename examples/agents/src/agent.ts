/** One agent: `agent.ts FOLDER NAME TASKS [hangs]`. Tells its parent what it claims; one that hangs never ends its first task. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { TaskBranch } from './task-branch.js'
import { workOn } from './work-on.js'

const [folder = '', agent = '', tasks = '', hangs] = process.argv.slice(2)
const store = new LocalLeaseStore({ folder: join(folder, 'leases') })

// The demo has ended.
process.on('disconnect', () => process.exit())

await workOn(tasks.split(','), store, agent, async (task, { token, signal }) => {
  const branch = new TaskBranch(join(folder, 'repository.git'), task, { agent, token, signal })
  await branch.open()
  process.send?.({ task, token: String(token) })
  // Here the model thinks.
  await pause(hangs === undefined ? 100 : 1_000_000, undefined, { signal })
  writeFileSync(join(branch.folder, `${task}.txt`), `by ${agent}\n`)
  await branch.push(`Do ${task}`)
  await branch.close()
})
await store.close()
process.exit()
