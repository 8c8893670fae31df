import { useState } from 'preact/hooks'
import { HOUR, TIMES } from '../world/settings.js'
import { letterOf } from '../world/world.js'
import { usePlayer, useWorld } from './player-context.js'
import { stateOf, timeOfDay } from './texts.js'
import { ValidityBar } from './validity-bar.js'

/** One node: its state, its validity on its own clock, and what can be done to it. */
export function NodeView({ node }: { readonly node: number }) {
  const world = useWorld()
  const letter = letterOf(node)
  const program = world.programOf(node)
  const { kind, text } = stateOf(world, node)
  const token = program?.lease.fencingToken
  return (
    <article class="card node" data-kind={kind} aria-labelledby={`node-${letter}`}>
      <div class="node-head">
        <h2 id={`node-${letter}`} class="letter" data-tone={node + 1}>
          <span class="unseen">Node </span>
          {letter}
        </h2>
        <span class="state">{text}</span>
        <span class="doing">{program?.isComputing === true && 'computes'}</span>
      </div>
      <ValidityBar remaining={program?.lease.remaining ?? 0} ttl={TIMES.heartbeatTimeout} />
      <dl class="facts">
        <div>
          <dt>Token</dt>
          <dd class="mono">{token === undefined ? '–' : `#${token}`}</dd>
        </div>
        <div>
          <dt>Clock</dt>
          <dd class="mono">{timeOfDay(world.clockOf(node).wall())}</dd>
        </div>
      </dl>
      <NodeButtons node={node} />
    </article>
  )
}

interface Action {
  readonly text: string
  readonly act: () => void
  readonly isOff?: boolean
  readonly isHarm?: boolean
}

function NodeButtons({ node }: { readonly node: number }) {
  const player = usePlayer()
  const world = useWorld()
  const letter = letterOf(node)
  const [isOpen, setIsOpen] = useState(false)
  const id = `buttons-${letter}`
  return (
    <>
      {/* On a phone, the buttons would hide what they do. */}
      <button
        type="button"
        class="button node-toggle"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? 'Less' : 'Act'}
        <span class="unseen"> ({letter})</span>
      </button>
      <div id={id} class="node-buttons" data-open={isOpen || undefined}>
        {actionsOn(world, node).map(({ text, act, isOff = false, isHarm = false }, place) => (
          <button
            // The same button does and undoes.
            key={place}
            type="button"
            class={isHarm ? 'danger' : 'button'}
            disabled={isOff}
            onClick={() => player.act(act)}
          >
            {text}
            <span class="unseen"> ({letter})</span>
          </button>
        ))}
      </div>
    </>
  )
}

function actionsOn(world: ReturnType<typeof useWorld>, node: number): readonly Action[] {
  const isDead = world.programOf(node) === undefined
  const isPaused = !world.clockOf(node).isRunning
  const { isCut, delay } = world.network.of(node)
  return [
    isPaused
      ? { text: 'Resume', act: () => world.resume(node) }
      : { text: 'Pause', act: () => world.pause(node), isOff: isDead },
    isDead
      ? { text: 'Start', act: () => world.start(node) }
      : { text: 'Kill', act: () => world.kill(node), isHarm: true },
    isCut
      ? { text: 'Mend link', act: () => world.mend(node) }
      : { text: 'Cut link', act: () => world.cut(node), isHarm: true },
    delay > 0
      ? { text: 'Fast link', act: () => world.hasten(node) }
      : { text: 'Slow link', act: () => world.slow(node) },
    { text: 'Release', act: () => world.release(node), isOff: isDead || isPaused || world.holder !== node },
    { text: '+1 hour', act: () => world.stepWall(node, HOUR) },
  ]
}
