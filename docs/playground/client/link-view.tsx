import type { Message } from '../world/links.js'
import { letterOf } from '../world/world.js'
import { useWorld } from './player-context.js'
import { messageText } from './texts.js'

/** The link of one node to the store and the resource, with the messages under way. */
export function LinkView({ node }: { readonly node: number }) {
  const { network, now } = useWorld()
  const { isCut, delay } = network.of(node)
  const state = isCut ? 'cut' : delay > 0 ? 'slow' : 'good'
  return (
    <div class="link" data-state={state}>
      <span class="unseen">
        The link of {letterOf(node)} is {state}.
      </span>
      {state !== 'good' && (
        <span class="link-state" aria-hidden="true">
          {state}
        </span>
      )}
      {network.messages(node).map((message) => (
        <MessageView key={message.id} message={message} now={now} />
      ))}
    </div>
  )
}

function MessageView({ message, now }: { readonly message: Message; readonly now: number }) {
  const { direction, sentAt, arrivesAt } = message
  const { text, tone } = messageText(message)
  const way = (now - sentAt) / (arrivesAt - sentAt)
  const top = 100 * (direction === 'to-store' ? way : 1 - way)
  return (
    <span
      class="message"
      data-direction={direction}
      data-tone={tone}
      aria-hidden="true"
      style={{ top: `${Math.max(0, Math.min(100, top))}%` }}
    >
      <span class="message-text">{text}</span>
    </span>
  )
}
