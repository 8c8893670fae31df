/**
 * The members of a list whose turn it is: all of them, unless the environment variable says otherwise. `1/2` is the second half,
 * every other one. So the commits together check what one of them has no time for.
 */
export function inTurn<T>(
  members: readonly T[],
  variable: 'CHAOS_TURN' | 'MUTANTS_TURN' | 'SERVERS_TURN' | 'SITE_TURN',
  asked = process.env[variable] ?? '0/1',
): readonly T[] {
  const [, turn, turns] = (/^(\d+)\/([1-9]\d*)$/.exec(asked) ?? []).map(Number)
  if (turn === undefined || turns === undefined || turn >= turns) {
    throw new Error(`${variable} is '${asked}': it must be a turn and the number of turns, such as 0/2 or 1/2`)
  }
  return members.filter((_, place) => place % turns === turn)
}
