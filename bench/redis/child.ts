/** A measurement in a process of its own: `child.ts <measurement> <task as JSON>`; the parent is sent the result. */
import type { Measurement } from './child-process.js'
import { measureCycles } from './numbers/cycles.js'
import { measureEventLoopLag } from './numbers/event-loop-lag.js'
import { measureHandOver } from './numbers/hand-over.js'
import { measureHolding } from './numbers/holding.js'
import { measureOverlap } from './numbers/overlap.js'
import { takeWhatIsFree } from './taker.js'
import { countUnhandledRejections } from './unhandled-rejections.js'

const measurements: Record<Measurement, (task: never) => Promise<unknown>> = {
  overlap: measureOverlap,
  'hand-over': measureHandOver,
  holding: measureHolding,
  cycles: measureCycles,
  'event-loop-lag': measureEventLoopLag,
  taker: takeWhatIsFree,
}

const [measurement, task] = process.argv.slice(2)
countUnhandledRejections()
// Without the parent the result has no reader, and some libraries would go on for ever.
process.on('disconnect', () => process.exit(1))
const result = await measurements[measurement as Measurement](JSON.parse(task ?? '{}') as never)
// Some libraries go on for ever with what is under way: there is no other end.
process.send?.({ result }, () => process.exit(0))
