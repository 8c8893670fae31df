// How a state is written as bytes.

export const phases = ['idle', 'acquiring', 'held', 'jeopardy', 'releasing'] as const
export const methods = ['acquire', 'read', 'renew', 'release'] as const

/** Times are written as units; these numbers say that there is none, or that it never comes. */
export const ABSENT = 120
export const NEVER = 121

/** Added to times, so that they are not negative. */
export const ZERO = 32

/** How many bytes a state can have. */
export const MOST_BYTES = 1024

/** The number of a grant id of somebody else. */
export const OTHERS = 15

/** The message is that of the call under way. */
export const CURRENT = 32
