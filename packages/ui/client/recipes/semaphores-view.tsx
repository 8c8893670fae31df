export function SemaphoresView() {
  return <p>Semaphores</p>
}
