import { HOUR } from '../world/settings.js'
import type { World } from '../world/world.js'
import { letterOf } from '../world/world.js'
import type { Scene, Stage } from './scene.js'

const [A, B] = [0, 1]

/** The delay of a late write, in milliseconds: longer than the lease lasts without a heartbeat. */
const VERY_SLOW = 9_000

/** Time to look at the state before and after. */
const LOOK = 1_500

const killTheHolder: Scene = {
  id: 'kill-the-holder',
  title: 'Kill the holder',
  sentence:
    'A is killed and releases nothing: its record in the store expires, and the first waiter takes over with a larger token.',
  async play({ world, say }) {
    say('A holds the lease and renews it every 1.5 s. B and C wait in the queue.')
    await world.wait(LOOK)
    world.kill(A)
    say('A is dead. Nothing renews its record, which lasts for the rest of its 6 s.')
    await heldBy(world, B)
    say('The record has expired. B, the first in the queue, holds the lease with token 2.')
    await world.wait(LOOK)
  },
}

const pauseTheHolder: Scene = {
  id: 'pause-the-holder',
  title: 'Pause the holder for longer than its ttl',
  sentence:
    'A is paused between its check and its write: when it resumes, the resource refuses the write, because B has a larger token.',
  async play({ world, say }) {
    say('A checks its lease, and then computes what it will write.')
    await world.until(() => world.programOf(A)?.isComputing === true)
    world.pause(A)
    say(
      'A is paused, as by a long garbage collection. Its clock goes on, so its validity ends although none of its code runs.',
    )
    await heldBy(world, B)
    await written(world, B)
    say('B holds the lease and has written. A is still paused, between its check and its write.')
    await world.wait(LOOK)
    world.resume(A)
    say('A resumes. It finds that its lease is lost, but sends the write that it had begun.')
    await world.until(() => world.writes.some(({ isAccepted }) => !isAccepted))
    say(
      'The resource has seen token 2 and refuses the write with token 1. Without tokens, A would have overwritten the work of B.',
    )
    await world.wait(LOOK)
  },
}

const cutTheLink: Scene = {
  id: 'cut-the-link',
  title: 'Cut the link of the holder',
  sentence:
    'A cannot renew, so it stops on its own clock before the store grants the lease to B: look at the gap between their bars.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.cut(A)
    say('The heartbeats of A are lost. Its lease is in jeopardy, and its validity runs down.')
    await world.until(() => world.holder !== A)
    say(
      'The validity of A has ended, and A has stopped. The store still keeps the name for A, so nobody holds the lease now.',
    )
    await heldBy(world, B)
    say('The record has expired in the store too, and B holds the lease.')
    await world.wait(LOOK)
    world.mend(A)
    say('A reaches the store again, and waits at the end of the queue.')
    await world.until(() => world.waiters.includes(A))
    await world.wait(LOOK)
  },
}

const lateAnswers: Scene = {
  id: 'late-answers',
  title: 'The store answers late',
  sentence:
    'The heartbeats of A time out for 2.5 s, and A keeps its lease, because one is confirmed before its validity ends.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.slow(A)
    say('Each message of A now takes longer than a request may take, so A does not know whether its heartbeats arrive.')
    await world.until(() => world.programOf(A)?.lease.state === 'jeopardy')
    say('A heartbeat timed out. Its outcome is unknown, so A counts only from the last one that was confirmed.')
    await world.wait(LOOK)
    world.hasten(A)
    await world.until(() => world.programOf(A)?.lease.state === 'held')
    say('A heartbeat was confirmed in time. A held the lease throughout.')
    await world.wait(LOOK)
  },
}

const releaseTheLease: Scene = {
  id: 'release',
  title: 'Release the lease',
  sentence: 'A releases the lease, and B holds it a few messages later: nobody waits for a ttl to pass.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.release(A)
    say('A ends its work after the next write, and then releases the lease.')
    await world.until(() => world.holder !== A)
    say('The store notifies the first waiter at once.')
    await heldBy(world, B)
    say('B holds the lease. A rests, and then waits at the end of the queue.')
    await world.until(() => world.waiters.includes(A))
    await world.wait(LOOK)
  },
}

const breakTheLease: Scene = {
  id: 'break',
  title: 'Break the lease',
  sentence:
    'An operator breaks the lease of A: its next heartbeat is refused, so A stops before the name is free for B.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    await world.break()
    say('The record is “breaking”: the name stays locked for 3 s, so that A can notice and stop.')
    await world.until(() => world.holder !== A)
    say('The heartbeat of A was refused, and A has stopped. The name is still locked.')
    await heldBy(world, B)
    say('The period is over, and B holds the lease.')
    await world.wait(LOOK)
  },
}

const wrongClock: Scene = {
  id: 'wrong-clock',
  title: 'A clock that is an hour wrong',
  sentence:
    'The wall clocks of A and B are set an hour wrong, and nothing happens: no rule of a lease reads a wall clock.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.stepWall(A, HOUR)
    say('The wall clock of A is an hour ahead. A lock that compares timestamps would now count the lease as expired.')
    await world.wait(2 * LOOK)
    world.stepWall(B, -HOUR)
    say('The wall clock of B is an hour behind. Validity is counted on monotonic clocks, which cannot be set.')
    await world.wait(2 * LOOK)
    world.release(A)
    say('A hand-over works as before: A releases the lease.')
    await heldBy(world, B)
    say('B holds the lease, a few messages after A, though their wall clocks are two hours apart.')
    await world.wait(LOOK)
  },
}

const askAtOnce: Scene = {
  id: 'ask-at-once',
  title: 'Two nodes ask at once',
  sentence:
    'A and B ask in the same instant: one request arrives first and is granted, and the other one gets a place in the queue.',
  starts: [500, 500, 2_500],
  async play({ world, say }) {
    say('A and B start in the same instant, and ask for the lease.')
    await world.until(() => world.holder !== undefined)
    const winner = letterOf(world.holder ?? A)
    say(`The request of ${winner} arrived first. The other one was refused, and has a place in the queue.`)
    await world.until(() => world.waiters.length === 2)
    say('C asks too, and is second in the queue.')
    await world.wait(LOOK)
  },
}

const lateWrite: Scene = {
  id: 'late-write',
  title: 'A late write with an old token',
  sentence:
    'A write of A stays in the network until B has written: the resource refuses it by its token, though A held the lease when it sent it.',
  async play({ world, say }) {
    await world.until(() => world.programOf(A)?.isComputing === true)
    world.slow(A, VERY_SLOW)
    say('The network delays everything that A sends by 9 s: its write, and its heartbeats.')
    await heldBy(world, B)
    await written(world, B)
    say(
      'The validity of A has ended, and B holds the lease and has written with token 2. The write of A is still under way.',
    )
    await world.until(() => world.writes.some(({ isAccepted }) => !isAccepted))
    say(
      'The write of A has arrived and was refused. A held the lease when it sent it, so no check by A could have prevented this.',
    )
    world.hasten(A)
    await world.wait(LOOK)
  },
}

const restartTheStore: Scene = {
  id: 'restart-the-store',
  title: 'The store restarts',
  sentence:
    'The store is down for 2 s: A goes on within its validity, and its next heartbeat finds the record as it was.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.restartStore()
    say('The store refuses connections. A may still act, because its validity is counted on its own clock.')
    await world.until(() => world.programOf(A)?.lease.state === 'jeopardy')
    say('A heartbeat failed: the lease is in jeopardy, and the heartbeat is repeated.')
    await world.until(() => world.programOf(A)?.lease.state === 'held')
    say('The store is up again, and a heartbeat is confirmed. Nothing was lost.')
    await world.until(() => world.waiters.length === 2)
    await world.wait(LOOK)
  },
}

export const scenes: readonly Scene[] = [
  killTheHolder,
  pauseTheHolder,
  cutTheLink,
  lateAnswers,
  releaseTheLease,
  breakTheLease,
  wrongClock,
  askAtOnce,
  lateWrite,
  restartTheStore,
]

async function heldBy(world: Stage['world'], node: number): Promise<void> {
  await world.until(() => world.holder === node)
}

async function written(world: World, node: number): Promise<void> {
  await world.until(() => world.writes.some((write) => write.node === node && write.isAccepted))
}
