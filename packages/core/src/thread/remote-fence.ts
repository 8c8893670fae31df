import type { Fence } from '../self-fence/self-fence.js'

/**
 * The fence of a lease whose engine runs in the heartbeat thread. The thread arms it, because it goes on while this one is
 * blocked; only the acknowledgement comes from here. `acknowledge`: tells the thread that the loss of a grant was acknowledged.
 */
export function remoteFence(lostNumber: () => number, acknowledge: (number: number) => void): Fence {
  return {
    enter: () => undefined,
    abandon: () => {},
    arm: () => {},
    disarm: () => {},
    acknowledge: (work) => {
      const number = lostNumber()
      if (work === undefined) acknowledge(number)
      else void work.then(() => acknowledge(number))
    },
  }
}
