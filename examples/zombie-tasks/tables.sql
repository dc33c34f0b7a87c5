-- flowmend bundle d812c68044cf190f: the ledger, and the bundle's own tables
-- Leftover empty tables of a run that failed are used again.
CREATE TABLE IF NOT EXISTS `flowmend_ledger` (
  bundle varchar(64) NOT NULL,
  step varchar(190) NOT NULL,
  expected bigint NOT NULL,
  actual bigint NOT NULL,
  held int NOT NULL,
  recorded_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (bundle, step),
  CONSTRAINT flowmend_expected_is_actual CHECK (expected = actual)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_03_work` (
  `k_id` int(11) NOT NULL,
  `o_state` tinyint(4) NULL,
  `o_end_time` datetime NULL,
  `o_flag` tinyint(4) NULL,
  `o_host` varchar(135) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NULL,
  `n_state` tinyint(4) NULL,
  `n_end_time` datetime NULL,
  `r_state` tinyint(4) NULL,
  `r_host` varchar(135) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NULL,
  `r_restart_time` datetime NULL,
  PRIMARY KEY (`k_id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_03_before` LIKE `t_ds_task_instance`;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_03_after` LIKE `t_ds_task_instance`;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_04_work` (
  `k_id` int(11) NOT NULL,
  `o_state` tinyint(4) NULL,
  `o_end_time` datetime NULL,
  `o_update_time` timestamp NULL,
  `o_host` varchar(135) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NULL,
  `o_restart_time` datetime NULL,
  `n_state` tinyint(4) NULL,
  `n_end_time` datetime NULL,
  PRIMARY KEY (`k_id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_04_before` LIKE `t_ds_process_instance`;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_04_after` LIKE `t_ds_process_instance`;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_05_work` (
  `k_id` int(11) NOT NULL,
  `o_status` tinyint(4) NULL,
  `o_in_queue` tinyint(4) NULL,
  `o_update_time` timestamp NULL,
  `o_force_start` tinyint(4) NULL,
  `o_task_id` int(11) NULL,
  `n_status` tinyint(4) NULL,
  PRIMARY KEY (`k_id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_05_before` LIKE `t_ds_task_group_queue`;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_05_after` LIKE `t_ds_task_group_queue`;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_06_work` (
  `k_id` int(11) NOT NULL,
  `o_update_time` timestamp NULL,
  `o_use_size` int(11) NULL,
  `n_use_size` int(11) NULL,
  PRIMARY KEY (`k_id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_06_before` LIKE `t_ds_task_group`;
CREATE TABLE IF NOT EXISTS `flowmend_d812c68044cf_06_after` LIKE `t_ds_task_group`;
