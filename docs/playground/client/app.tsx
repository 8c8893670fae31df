import { JournalView } from './journal-view.js'
import { LinkView } from './link-view.js'
import { NodeView } from './node-view.js'
import { ResourceView } from './resource-view.js'
import { ScenesView } from './scenes-view.js'
import { StoreView } from './store-view.js'
import { TimeControls } from './time-controls.js'
import { TimelineView } from './timeline-view.js'
import { useWorld } from './player-context.js'

const nodes = [0, 1, 2] as const

export function App() {
  return (
    <div class="playground">
      <header class="head">
        <h1>Lease playground</h1>
        <p>
          The shipped engine, <code>@leasehold/core</code>, on three nodes and a store in memory. Nothing here is a model of
          it; only time and the network are played.
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
