import { TIMES } from '../world/settings.js'
import { JournalView } from './journal-view.js'
import { LinkView } from './link-view.js'
import { NodeView } from './node-view.js'
import { useWorld } from './player-context.js'
import { ResourceView } from './resource-view.js'
import { ScenesView } from './scenes-view.js'
import { StoreView } from './store-view.js'
import { TimeControls } from './time-controls.js'
import { TimelineView } from './timeline-view.js'

const nodes = [0, 1, 2] as const

const { heartbeatTimeout, heartbeatInterval } = TIMES

export function App() {
  return (
    <div class="playground">
      <header class="head">
        <h1>Lease playground</h1>
        <p>
          Three nodes run the engine that you install, <code>@leasehold/core</code>; the network and the time are
          simulated. The ttl is {heartbeatTimeout / 1_000} s, a heartbeat goes out every {heartbeatInterval / 1_000} s,
          and a message takes about 0.2 s.
        </p>
      </header>
      <ScenesView />
      <main class="stage">
        <TimeControls />
        <Violation />
        <section class="nodes" aria-label="Nodes">
          {nodes.map((node) => (
            <NodeView key={node} node={node} />
          ))}
        </section>
        <section class="links" aria-label="Links">
          {nodes.map((node) => (
            <LinkView key={node} node={node} />
          ))}
        </section>
        <section class="servers" aria-label="Store and resource">
          <StoreView />
          <ResourceView />
        </section>
        <TimelineView />
        <JournalView />
      </main>
    </div>
  )
}

/** Two holders at once: nobody should ever see this. */
function Violation() {
  const { violation } = useWorld()
  return violation === undefined ? null : <p class="refused">A rule is broken: {violation}. Please report it.</p>
}
