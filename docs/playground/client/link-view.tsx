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
      {labelled(network.messages(node), now).map(({ message, place, hasText }) => (
        <MessageView key={message.id} message={message} place={place} hasText={hasText} />
      ))}
    </div>
  )
}

/** A text that is closer than this to another one, in percent of the link, could not be read. */
const CLOSE = 16

interface Placed {
  readonly message: Message
  /** Percent of the way from the node to the store. */
  readonly place: number
  readonly hasText: boolean
}

/** Where the messages are, the furthest first, and which of them have room for their text. */
function labelled(messages: readonly Message[], now: number): readonly Placed[] {
  const last: Partial<Record<Message['direction'], number>> = {}
  return messages
    .map((message) => ({ message, way: wayOf(message, now) }))
    .toSorted((one, other) => other.way - one.way)
    .map(({ message, way }) => {
      const { direction } = message
      const hasText = (last[direction] ?? Number.POSITIVE_INFINITY) - way > CLOSE
      if (hasText) last[direction] = way
      return { message, place: direction === 'to-store' ? way : 100 - way, hasText }
    })
}

function wayOf({ sentAt, arrivesAt }: Message, now: number): number {
  return Math.max(0, Math.min(100, (100 * (now - sentAt)) / (arrivesAt - sentAt)))
}

function MessageView({ message, place, hasText }: Placed) {
  const { text, tone } = messageText(message)
  return (
    <span
      class="message"
      data-direction={message.direction}
      data-tone={tone}
      aria-hidden="true"
      style={{ top: `${place}%` }}
    >
      {hasText && <span class="message-text">{text}</span>}
    </span>
  )
}
