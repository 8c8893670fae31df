/** A measurement in a process of its own: `child.ts <measurement> <task as JSON>`; it sends the result to the parent. */
import type { Measurement } from './child-process.js'
import { measureCycles } from './numbers/cycles.js'
import { measureHandOver } from './numbers/hand-over.js'
import { measureHolding } from './numbers/holding.js'

const measurements: Record<Measurement, (task: never) => Promise<unknown>> = {
  cycles: measureCycles,
  'hand-over': measureHandOver,
  holding: measureHolding,
}

const [measurement, task] = process.argv.slice(2)
process.on('disconnect', () => process.exit(1))
const result = await measurements[measurement as Measurement](JSON.parse(task ?? '{}') as never)
process.send?.({ result }, () => process.exit(0))
