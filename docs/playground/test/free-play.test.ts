import { expect, it } from 'vitest'
import { Random } from '../../../packages/testkit/src/random.js'
import { HOUR } from '../world/settings.js'
import { World } from '../world/world.js'

/** Everything that a visitor can press for a node. */
const actions: readonly ((world: World, node: number) => unknown)[] = [
  (world, node) => world.kill(node),
  (world, node) => world.start(node),
  (world, node) => world.start(node),
  (world, node) => world.pause(node),
  (world, node) => world.resume(node),
  (world, node) => world.resume(node),
  (world, node) => world.cut(node),
  (world, node) => world.mend(node),
  (world, node) => world.mend(node),
  (world, node) => world.slow(node),
  (world, node) => world.hasten(node),
  (world, node) => world.hasten(node),
  (world, node) => world.release(node),
  (world, node) => world.stepWall(node, HOUR),
  (world) => world.break(),
  (world) => world.restartStore(),
]

it.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'whatever a visitor presses, no rule breaks (seed %i)',
  async (seed) => {
    const random = new Random(seed)
    const world = new World({ seed })
    for (let pressed = 0; pressed < 60; pressed += 1) {
      await world.advance(random.between(0, 2_500))
      await actions[random.whole(0, actions.length - 1)]?.(world, random.whole(0, 2))
    }
    for (const node of [0, 1, 2]) {
      world.resume(node)
      world.mend(node)
      world.hasten(node)
      world.start(node)
    }
    await world.advance(20_000)
    expect(world.violation).toBeUndefined()
    // In the end everything works again.
    expect(world.holder).toBeDefined()
    expect(world.waiters).toHaveLength(2)
  },
)
