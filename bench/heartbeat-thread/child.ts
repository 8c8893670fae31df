/** A process that is measured: `child.mjs <task as JSON>`. */
import { type BlockedTask, holdAndBlock } from './blocked/hold-and-block.js'
import { type CostTask, measureCost } from './cost/measure-cost.js'
import { type FencedTask, workPastTheLock } from './fenced/work-past-the-lock.js'

export type Task = BlockedTask | FencedTask | CostTask

function report(outcome: object): Promise<void> {
  return new Promise((resolve) => process.send?.(outcome, () => resolve()))
}

async function perform(task: Task): Promise<void> {
  switch (task.type) {
    case 'blocked':
      return await holdAndBlock(task)
    case 'fenced':
      return await workPastTheLock(task)
    case 'cost':
      await report(await measureCost(task))
  }
}

// The calls of a rival that is cut off may fail without anyone who waits for them.
process.on('unhandledRejection', () => {})
process.on('disconnect', () => process.exit())
await perform(JSON.parse(process.argv[2] ?? '{}'))
process.exit()
