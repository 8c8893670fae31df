import { describe, expectTypeOf, it } from 'vitest'
import {
  type ActorRefFrom,
  createActor,
  createMachine,
  type EmittedFrom,
  type EventFromLogic,
  fromPromise,
  fromTransition,
  type InputFrom,
  type OutputFrom,
  type SnapshotFrom,
  setup,
  toPromise,
} from 'xstate'
import { type DropReason, type LeaseGuardedLogic, leaseGuarded } from '../src/index.js'
import { ScriptedLease } from './support/scripted-lease.js'

const options = { lease: new ScriptedLease(), retryInterval: 1_000 }

type Events = { type: 'add'; by: number } | { type: 'clear' }
const machine = setup({
  types: {
    events: {} as Events,
    input: {} as { start: number },
    output: {} as { total: number },
    emitted: {} as { type: 'added'; by: number },
    context: {} as { total: number },
  },
}).createMachine({
  context: ({ input }) => ({ total: input.start }),
  output: ({ context }) => context,
})

// Checked by the compiler only.
describe('the types of a guarded worker', () => {
  const guarded = leaseGuarded(machine, options)
  type Guarded = typeof guarded

  it('are those of the worker', () => {
    expectTypeOf<EventFromLogic<Guarded>>().toEqualTypeOf<EventFromLogic<typeof machine>>()
    expectTypeOf<InputFrom<Guarded>>().toEqualTypeOf<{ start: number }>()
    expectTypeOf<OutputFrom<Guarded>>().toEqualTypeOf<{ total: number }>()
    expectTypeOf<EmittedFrom<Guarded>>().toEqualTypeOf<{ type: 'added'; by: number }>()
    expectTypeOf(guarded).toEqualTypeOf<LeaseGuardedLogic<typeof machine>>()
  })

  it('are also those of other kinds of workers', () => {
    const adder = fromTransition((sum: number, event: { type: 'add'; by: number }) => sum + event.by, 0)
    expectTypeOf<EventFromLogic<LeaseGuardedLogic<typeof adder>>>().toEqualTypeOf<{ type: 'add'; by: number }>()
    const task = fromPromise(({ input }: { input: string }) => Promise.resolve(input.length))
    const guardedTask = leaseGuarded(task, options)
    expectTypeOf<OutputFrom<typeof guardedTask>>().toEqualTypeOf<number>()
    expectTypeOf<InputFrom<typeof guardedTask>>().toEqualTypeOf<string>()
  })

  it('the input is required if the worker requires it', () => {
    const task = fromPromise(() => Promise.resolve(1))
    const create = () => {
      createActor(guarded, { input: { start: 1 } })
      createActor(leaseGuarded(task, options))
      // @ts-expect-error: the worker needs an input
      createActor(guarded)
      // @ts-expect-error: the input has another type
      createActor(guarded, { input: { start: 'one' } })
    }
    expectTypeOf(create).toBeFunction()
  })

  it('only its events can be sent, and only its emitted events can be observed', () => {
    const use = (actor: ActorRefFrom<Guarded>) => {
      actor.send({ type: 'add', by: 1 })
      // @ts-expect-error: not an event of the worker
      actor.send({ type: 'remove' })
      // @ts-expect-error: not the payload of the event
      actor.send({ type: 'add', by: 'one' })
      actor.on('added', ({ by }) => expectTypeOf(by).toEqualTypeOf<number>())
      // @ts-expect-error: not emitted by the worker
      actor.on('removed', () => {})
      actor.getSnapshot().matches('active')
      // @ts-expect-error: not a state of the guarded actor
      actor.getSnapshot().matches('idle')
      expectTypeOf(actor.getSnapshot().context.stashed).toEqualTypeOf<number>()
      const { worker } = actor.getSnapshot().children
      expectTypeOf(worker?.getSnapshot()).toEqualTypeOf<SnapshotFrom<typeof machine> | undefined>()
      return toPromise(actor)
    }
    expectTypeOf(use).returns.resolves.toEqualTypeOf<{ total: number }>()
  })

  it('the options use them', () => {
    const use = () =>
      leaseGuarded(machine, {
        retryInterval: 1_000,
        lease: ({ input }) => {
          expectTypeOf(input).toEqualTypeOf<{ start: number }>()
          return options.lease
        },
        onDropped: (event, why) => {
          expectTypeOf(event).toEqualTypeOf<EventFromLogic<typeof machine>>()
          expectTypeOf(why).toEqualTypeOf<DropReason>()
        },
      })
    expectTypeOf(use).toBeFunction()
  })

  it('a machine that invokes the actor uses them', () => {
    const parent = () =>
      setup({ actors: { guarded } }).createMachine({
        invoke: {
          src: 'guarded',
          input: { start: 1 },
          onDone: { actions: ({ event }) => expectTypeOf(event.output).toEqualTypeOf<{ total: number }>() },
        },
      })
    const wrong = () =>
      setup({ actors: { guarded } }).createMachine({
        // @ts-expect-error: the worker has another input
        invoke: { src: 'guarded', input: { start: 'one' } },
      })
    expectTypeOf(parent).toBeFunction()
    expectTypeOf(wrong).toBeFunction()
    expectTypeOf(createMachine({ invoke: { src: guarded } })).toBeObject()
  })
})
