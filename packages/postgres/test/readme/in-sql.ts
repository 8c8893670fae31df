import type { Pool } from 'pg'

// #region sql
const script = `
  begin;
  select leasehold.leases_guard('close-month', 1795373996462474);
  update accounts set balance = balance - 5 where id = 1;
  commit;
`
// #endregion sql

/** With the token of a lease in place of the one in the script. */
export async function payFive(pool: Pool, fencingToken: bigint): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query(script.replace('1795373996462474', String(fencingToken)))
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}
