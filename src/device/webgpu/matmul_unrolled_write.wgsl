// They go into the tiles, turned where columns become rows.
// repeat i LOADS_A
if (TA == 1u) {
    tile_a[k_a$i][m_a$i] = next_a$i;
} else {
    tile_a[k_a$i][m_a$i][c_a$i] = next_a$i.x;
    tile_a[k_a$i + 1u][m_a$i][c_a$i] = next_a$i.y;
    tile_a[k_a$i + 2u][m_a$i][c_a$i] = next_a$i.z;
    tile_a[k_a$i + 3u][m_a$i][c_a$i] = next_a$i.w;
}
// end
// repeat i LOADS_B
if (TB == 0u) {
    tile_b[k_b$i][n_b$i] = next_b$i;
} else {
    tile_b[k_b$i][n_b$i][c_b$i] = next_b$i.x;
    tile_b[k_b$i + 1u][n_b$i][c_b$i] = next_b$i.y;
    tile_b[k_b$i + 2u][n_b$i][c_b$i] = next_b$i.z;
    tile_b[k_b$i + 3u][n_b$i][c_b$i] = next_b$i.w;
}
// end
