import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { Admission } from '../../src/engine/admission.js'

const MOST = 1_024
const TURN = 512

/** As many requests under way as there may be, and others that wait. `sends`: whether each is sent once it may. */
function setUp(waiting: number, sends: boolean) {
  const clock = new VirtualClock()
  const admission = new Admission(clock)
  for (let request = 0; request < MOST; request += 1) admission.begin()
  const woken: number[] = []
  for (let lease = 0; lease < waiting; lease += 1) {
    const onTimer = (): void => {
      woken.push(lease)
      if (sends) admission.begin()
    }
    admission.delay({ onTimer })
  }
  return { clock, admission, woken }
}

describe('the requests that are delayed', () => {
  it('are sent in their order when others have ended, and no more than there is room for', async () => {
    const { clock, admission, woken } = setUp(5, true)
    admission.end(2)
    await clock.settle()
    expect(woken).toEqual([0, 1])
    expect(admission.isFull).toBe(true)
    admission.end(1)
    await clock.settle()
    expect(woken).toEqual([0, 1, 2])
  })

  it('are all admitted in the end, also if those before them send nothing any more', async () => {
    const waiting = 2 * TURN + 10
    const { clock, admission, woken } = setUp(waiting, false)
    admission.end(MOST)
    await clock.settle()
    expect(woken).toHaveLength(waiting)
  })
})
