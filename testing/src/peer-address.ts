/**
 * Makes the address by which the other servers of a cluster know the server with this number, which listens at `port`: something in
 * front of it, so that tests can cut it off. Resolves with the port of the address. `processes`: of all servers, by their
 * numbers.
 */
export type PeerAddress = (
  server: number,
  port: number,
  processes: () => readonly (number | undefined)[],
) => Promise<number>
