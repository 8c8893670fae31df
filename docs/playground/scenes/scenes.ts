import { HOUR } from '../world/settings.js'
import type { World } from '../world/world.js'
import { letterOf } from '../world/world.js'
import type { Scene, Stage } from './scene.js'

const [A, B] = [0, 1]

/** A write is slower than this when it is late, in milliseconds: longer than the lease lasts without a heartbeat. */
const VERY_SLOW = 9_000

/** Time to look at the state before and after. */
const LOOK = 1_500

const killTheHolder: Scene = {
  id: 'kill-the-holder',
  title: 'Kill the holder',
  sentence:
    'A dies and tells nobody: its record in the store runs out, and the first waiter takes over with a larger token.',
  async play({ world, say }) {
    say('A holds the lease and renews it every 1.5 s. B and C wait in the queue.')
    await world.wait(LOOK)
    world.kill(A)
    say('A is dead. Nobody renews its record, which lasts for the rest of its 6 s.')
    await heldBy(world, B)
    say('The record ran out, and B, the first in the queue, holds the lease with token 2.')
    await world.wait(LOOK)
  },
}

const pauseTheHolder: Scene = {
  id: 'pause-the-holder',
  title: 'Pause the holder for longer than its ttl',
  sentence:
    'A freezes between its check and its write. When it wakes up, its late write is refused, because B has a larger token.',
  async play({ world, say }) {
    say('A checks its lease, and then computes what it writes.')
    await world.until(() => world.programOf(A)?.isComputing === true)
    world.pause(A)
    say(
      'A is frozen, as in a long garbage collection. Its clock goes on, so its validity runs down without any code of A.',
    )
    await heldBy(world, B)
    await written(world, B)
    say('B holds the lease and has written. A still sleeps, with a write in its hands.')
    await world.wait(LOOK)
    world.resume(A)
    say('A wakes up. It finds out that its lease is lost, but its write is already on the way.')
    await world.until(() => world.writes.some(({ isAccepted }) => !isAccepted))
    say(
      'The resource has seen token 2 and refuses the write with token 1. Without the token, A would have overwritten B.',
    )
    await world.wait(LOOK)
  },
}

const cutTheLink: Scene = {
  id: 'cut-the-link',
  title: 'Cut the link of the holder',
  sentence:
    'A cannot renew, so it stops on its own clock before the store lets B in: look at the gap between their bars.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.cut(A)
    say('The heartbeats of A are lost on the way. The lease of A is in jeopardy, and its validity runs down.')
    await world.until(() => world.holder !== A)
    say('A has stopped by itself. The store still keeps the name for it, so nobody holds the lease at this instant.')
    await heldBy(world, B)
    say('Now the record has run out in the store too, and B holds the lease.')
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
    'The heartbeats of A time out for 2.5 s: that is no loss, and A keeps its lease because one gets through in time.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.slow(A)
    say('Each message of A now takes longer than a request may take. A does not know whether its heartbeats arrive.')
    await world.until(() => world.programOf(A)?.lease.state === 'jeopardy')
    say('A heartbeat timed out. Its outcome is unknown, so A counts only on what was confirmed before.')
    await world.wait(LOOK)
    world.hasten(A)
    await world.until(() => world.programOf(A)?.lease.state === 'held')
    say('A heartbeat was confirmed in time: A never stopped, and B and C were never asked.')
    await world.wait(LOOK)
  },
}

const releaseTheLease: Scene = {
  id: 'release',
  title: 'Release the lease',
  sentence: 'A gives the lease back, and B holds it a few messages later: nobody waits for a ttl to pass.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.release(A)
    say('A ends its work after the next write, and releases the lease.')
    await world.until(() => world.holder !== A)
    say('The store has a first waiter, and notifies it at once.')
    await heldBy(world, B)
    say('B holds the lease. A rests, and then goes to the end of the queue.')
    await world.until(() => world.waiters.includes(A))
    await world.wait(LOOK)
  },
}

const breakTheLease: Scene = {
  id: 'break',
  title: 'Break the lease',
  sentence: 'An operator breaks the lease of A: A learns it by its next heartbeat, before the name is free for B.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    await world.break()
    say('The record is “breaking”: the name stays locked for 3 s, so that A has time to learn it and to stop.')
    await world.until(() => world.holder !== A)
    say('The heartbeat of A was refused, so A has stopped. The name is still locked.')
    await heldBy(world, B)
    say('The period is over, and B holds the lease.')
    await world.wait(LOOK)
  },
}

const wrongClock: Scene = {
  id: 'wrong-clock',
  title: 'A clock that is an hour wrong',
  sentence: 'The wall clocks of A and B jump by an hour, and nothing happens: no rule of a lease reads a wall clock.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.stepWall(A, HOUR)
    say('The wall clock of A is an hour ahead. A lock that compares timestamps would take the lease for expired.')
    await world.wait(2 * LOOK)
    world.stepWall(B, -HOUR)
    say('And the one of B is an hour behind. The validity still runs on clocks that nobody can set.')
    await world.wait(2 * LOOK)
    world.release(A)
    say('The hand-over works as ever: A releases the lease.')
    await heldBy(world, B)
    say('B holds the lease, two hours apart from A by their wall clocks, and a few messages apart in truth.')
    await world.wait(LOOK)
  },
}

const askAtOnce: Scene = {
  id: 'ask-at-once',
  title: 'Two nodes ask at once',
  sentence:
    'A and B ask in the same instant: the store decides in one step, so one is granted and the other gets a place in the queue.',
  starts: [500, 500, 2_500],
  async play({ world, say }) {
    say('A and B start at the same time, and both ask for the lease.')
    await world.until(() => world.holder !== undefined)
    const winner = letterOf(world.holder ?? A)
    say(`The request of ${winner} arrived first. The other one was refused, and keeps its place in the queue.`)
    await world.until(() => world.waiters.length === 2)
    say('C asks too, and is the second in the queue.')
    await world.wait(LOOK)
  },
}

const lateWrite: Scene = {
  id: 'late-write',
  title: 'A late write with an old token',
  sentence:
    'A write of A is stuck in the network until B has written: the resource refuses it by its token, though A did nothing wrong.',
  async play({ world, say }) {
    await world.until(() => world.programOf(A)?.isComputing === true)
    world.slow(A, VERY_SLOW)
    say('The network holds up everything that A sends for 9 s, the write as well as the heartbeats.')
    await heldBy(world, B)
    await written(world, B)
    say('A has stopped, and B holds the lease and writes with token 2. The write of A is still under way.')
    await world.until(() => world.writes.some(({ isAccepted }) => !isAccepted))
    say(
      'The write of A has arrived, and was refused: when it was sent, A held the lease, and no check by A could have helped.',
    )
    world.hasten(A)
    await world.wait(LOOK)
  },
}

const restartTheStore: Scene = {
  id: 'restart-the-store',
  title: 'The store restarts',
  sentence:
    'The store is away for 2 s: A goes on within its validity, and its next heartbeat finds the record as it was.',
  async play({ world, say }) {
    await world.wait(LOOK / 2)
    world.restartStore()
    say('The store refuses connections. A may still act, because its validity is a fact of its own clock.')
    await world.until(() => world.programOf(A)?.lease.state === 'jeopardy')
    say('A heartbeat failed: the lease is in jeopardy, and is tried again at once.')
    await world.until(() => world.programOf(A)?.lease.state === 'held')
    say('The store is back, and the heartbeat is confirmed. Nobody lost anything.')
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
