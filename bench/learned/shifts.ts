import { lognormal, mixed, pareto } from '../../packages/core/test/objective/world.js'
import { worldOf } from '../geo/losses.js'
import type { Shift } from './shift.js'

const near = { name: '2 ms', roundTrip: lognormal(2, 2) }

export const shifts: readonly Shift[] = [
  {
    name: '200 ms away, 1 % of the packets lost',
    before: near,
    after: worldOf({ roundTrip: 200, packetLoss: 0.01, isSilentAtTimes: false }),
  },
  {
    name: 'one request in a hundred takes about 1 s',
    before: near,
    after: { name: 'slow', roundTrip: mixed(lognormal(5, 2), lognormal(900, 1.6), 0.01) },
  },
  {
    name: 'a heavy tail: 10 ms, falls with the power 1.1',
    before: near,
    after: { name: 'heavy', roundTrip: pareto(10, 1.1) },
  },
  { name: 'one request in five fails', before: near, after: { ...near, errors: 0.2 } },
  {
    name: 'silent each week, for 1 s or more',
    before: near,
    after: { ...near, windows: [{ kind: 'silent', everyDays: 7, lasts: pareto(1_000, 1.3) }] },
  },
]
